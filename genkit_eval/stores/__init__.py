"""Where datasets and runs are kept: the protocols, and the stores of local JSON files in Genkit's layout."""

from genkit_eval.stores.ids import check_id, new_dataset_id, new_run_id, opens_in_genkit
from genkit_eval.stores.journal import Journal
from genkit_eval.stores.local_datasets import LocalFileDatasetStore
from genkit_eval.stores.local_evals import LocalFileEvalStore
from genkit_eval.stores.protocols import ANY_VERSION, UNSET, AnyVersion, DatasetStore, EvalStore, Unset
from genkit_eval.stores.recorded_calls import RecordedCalls
from genkit_eval.stores.roots import find_root
from genkit_eval.stores.stored_run import StoredResults, StoredRun

__all__ = [
    "ANY_VERSION",
    "UNSET",
    "AnyVersion",
    "DatasetStore",
    "EvalStore",
    "Journal",
    "LocalFileDatasetStore",
    "LocalFileEvalStore",
    "RecordedCalls",
    "StoredResults",
    "StoredRun",
    "Unset",
    "check_id",
    "find_root",
    "new_dataset_id",
    "new_run_id",
    "opens_in_genkit",
]
