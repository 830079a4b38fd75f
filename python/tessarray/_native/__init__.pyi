"""The compiled engine. Use the names that `tessarray` exports; those here may change. One stub for each noun."""

from tessarray._native._appender import ArrayAppender as ArrayAppender
from tessarray._native._array import ArrayCore as ArrayCore
from tessarray._native._array import Indexer as Indexer
from tessarray._native._array import array_from_documents as array_from_documents
from tessarray._native._array import create_array as create_array
from tessarray._native._check import FindingFields as FindingFields
from tessarray._native._check import check_store as check_store
from tessarray._native._check import repair_store as repair_store
from tessarray._native._codec import codecs_from_text as codecs_from_text
from tessarray._native._collection import CollectionCore as CollectionCore
from tessarray._native._collection import FoundCore as FoundCore
from tessarray._native._collection import KindCore as KindCore
from tessarray._native._collection import add_dataset as add_dataset
from tessarray._native._collection import describe_array as describe_array
from tessarray._native._dtype import numpy_dtype as numpy_dtype
from tessarray._native._group import GroupCore as GroupCore
from tessarray._native._group import create_group as create_group
from tessarray._native._json import parse_json as parse_json
from tessarray._native._node import Node as Node
from tessarray._native._node import open_node as open_node
from tessarray._native._pack import PackCore as PackCore
from tessarray._native._pack import PackVersionCore as PackVersionCore
from tessarray._native._pack import TransactionCore as TransactionCore
from tessarray._native._recording import AccessLog as AccessLog
from tessarray._native._session import Session as Session
from tessarray._native._session import default_session as default_session
from tessarray._native._store import Count as Count
from tessarray._native._store import FaultStore as FaultStore
from tessarray._native._store import LocalStore as LocalStore
from tessarray._native._store import MappingStore as MappingStore
from tessarray._native._store import MemoryStore as MemoryStore
from tessarray._native._store import PackStore as PackStore
from tessarray._native._store import PrefixStore as PrefixStore
from tessarray._native._store import ReadOnlyStore as ReadOnlyStore
from tessarray._native._store import RecordStore as RecordStore
from tessarray._native._store import Store as Store
from tessarray._native._store import ThrottleStore as ThrottleStore
from tessarray._native._store import ZipStore as ZipStore
from tessarray._native._stream import ChunkStream as ChunkStream
from tessarray._native._stream import chunk_stream as chunk_stream

__version__: str
