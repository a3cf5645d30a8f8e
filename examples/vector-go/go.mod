module vector-adapter-go

go 1.19
