"""Types and functions to imitate a vendor's API with endpoints for `provider.serve()` (docs/adapter-guide.md)."""

from pytest_corpus.adapter.hooks.vendors.endpoint import Body as Body
from pytest_corpus.adapter.hooks.vendors.endpoint import Endpoint as Endpoint
from pytest_corpus.adapter.hooks.vendors.endpoint import Endpoints as Endpoints
from pytest_corpus.adapter.hooks.vendors.endpoint import Errors as Errors
from pytest_corpus.adapter.hooks.vendors.endpoint import Events as Events
from pytest_corpus.adapter.hooks.vendors.endpoint import Refusal as Refusal
from pytest_corpus.adapter.hooks.vendors.endpoint import Trouble as Trouble
from pytest_corpus.adapter.hooks.vendors.endpoint import event as event
