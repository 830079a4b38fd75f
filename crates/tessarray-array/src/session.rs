//! What calls share: worker threads, codecs, limits and caches. No global state: every value below hangs on a
//! [`Session`], of which there may be several.

use crate::cache::IndexCache;
use crate::crew;
use crate::error::{ArrayError, Result};
use crate::gate::Gate;
use crate::options::Options;
use crate::verified::VerifiedChunks;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use tessarray_buffer::PerProcess;
use tessarray_codec::{AnyCodec, ChunkSpec, NamedConfig, Registry};
use tessarray_meta::Limits;

/// The environment variable that sets the number of worker threads where the session does not.
pub const THREADS_VARIABLE: &str = "TESSARRAY_THREADS";

/// Worker threads, codec registry, limits and caches; cheap to clone, and safe to use after a fork.
///
/// The threads start at the first call that is worth them. After a fork, a child's first such call starts its own:
/// threads do not survive a fork, and the parent's locks may be held for ever.
#[derive(Clone)]
pub struct Session {
    shared: Arc<Shared>,
    /// Before the workers.
    gate: Option<Arc<Gate>>,
    options: Options,
}

struct Shared {
    threads: usize,
    limits: Limits,
    registry: RwLock<Arc<Registry>>,
    process: PerProcess<Process>,
    ids: AtomicU64,
}

/// What must not be shared with a forked child, which makes its own.
pub(crate) struct Process {
    pool: std::sync::OnceLock<std::result::Result<ThreadPool, String>>,
    pub(crate) indexes: IndexCache,
    pub(crate) verified: VerifiedChunks,
}

impl Process {
    fn new() -> Self {
        Self {
            pool: std::sync::OnceLock::new(),
            indexes: IndexCache::default(),
            verified: VerifiedChunks::default(),
        }
    }
}

impl Session {
    /// A session with one thread a core (or as `TESSARRAY_THREADS` says) and every built-in codec.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// The same session, whose workers pass a gate before each job.
    pub(crate) fn behind(&self, gate: Arc<Gate>) -> Self {
        Self { shared: Arc::clone(&self.shared), gate: Some(gate), options: self.options }
    }

    /// The same workers, codecs and caches, with other options for what is created and opened with it.
    pub fn with_options(&self, options: Options) -> Self {
        Self { options, ..self.clone() }
    }

    /// How arrays that are opened with it are read and written.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Settings for a session.
    pub fn builder() -> SessionBuilder {
        SessionBuilder::default()
    }

    /// Threads that work on one call: the caller's, and workers.
    pub fn threads(&self) -> usize {
        self.shared.threads
    }

    /// What metadata may ask for.
    pub fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// The codecs that metadata may name.
    pub fn registry(&self) -> Arc<Registry> {
        self.shared.registry.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds a codec for arrays that are opened from now on.
    pub fn register_codec(
        &self,
        name: &str,
        build: impl Fn(&NamedConfig, &ChunkSpec) -> tessarray_codec::Result<AnyCodec> + Send + Sync + 'static,
    ) {
        let mut registry = self.shared.registry.write().unwrap_or_else(PoisonError::into_inner);
        let mut changed = (**registry).clone();
        changed.register(name, build);
        *registry = Arc::new(changed);
    }

    /// Runs a job on the worker threads, where rayon's parallel iterators use all of them; on the caller's own
    /// thread where the session has only one, or the caller is a worker already.
    ///
    /// # Errors
    /// [`ArrayError::Threads`] if the worker threads cannot be started.
    pub fn run<R: Send>(&self, job: impl FnOnce() -> R + Send) -> Result<R> {
        let pool = self.pool()?;
        // A worker of some other rayon pool would run that pool's jobs while it waits, and one of them may want a lock
        // that this call holds; a thread of its own just waits.
        if rayon::current_thread_index().is_some() && pool.current_thread_index().is_none() {
            return std::thread::scope(|scope| {
                let waiting = std::thread::Builder::new().spawn_scoped(scope, || pool.install(job));
                let waiting =
                    waiting.map_err(|error| ArrayError::Threads { threads: 1, reason: error.to_string() })?;
                waiting.join().map_err(|panic| std::panic::resume_unwind(panic))
            });
        }
        Ok(pool.install(job))
    }

    fn pool(&self) -> Result<&ThreadPool> {
        let threads = self.shared.threads;
        let pool = self.process().pool.get_or_init(|| {
            let name = |i| format!("tessarray-{i}");
            ThreadPoolBuilder::new().num_threads(threads).thread_name(name).build().map_err(|e| e.to_string())
        });
        pool.as_ref().map_err(|reason| ArrayError::Threads { threads, reason: reason.clone() })
    }

    /// Runs jobs `0..count`, each once, on the caller's thread and on workers, which never makes the caller wait for a
    /// worker that is busy. The first error ends it: jobs under way are done, no others are begun.
    ///
    /// # Errors
    /// The first error of a job; [`ArrayError::Threads`] if the worker threads cannot be started.
    #[expect(clippy::cast_possible_truncation, reason = "at most 2^32 - 1 groups, by the size of a group")]
    pub fn share(&self, count: u64, job: impl Fn(u64) -> Result<()> + Sync) -> Result<()> {
        if count < 2 || self.threads() == 1 {
            return (0..count).try_for_each(job);
        }
        let failure = Mutex::new(None);
        // More jobs than have numbers go in groups.
        let group = count.div_ceil(u64::from(u32::MAX));
        let groups = count.div_ceil(group) as u32;
        crew::share(self.pool()?, self.threads() - 1, groups, self.gate.as_ref(), &|number| {
            let begin = u64::from(number) * group;
            let done = (begin..(begin + group).min(count)).try_for_each(&job);
            let done = done.map_err(|error| {
                failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            });
            done.is_ok()
        });
        failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    /// The same for jobs with results, which are given in the order of their numbers.
    ///
    /// # Errors
    /// Those of [`share`](Self::share).
    #[expect(clippy::cast_possible_truncation, reason = "a number below a count of slots")]
    pub fn collect<T: Send>(&self, count: usize, job: impl Fn(usize) -> Result<T> + Sync) -> Result<Vec<T>> {
        let slots: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
        self.share(count as u64, |number| {
            let number = number as usize;
            let result = job(number)?;
            *slots[number].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            Ok(())
        })?;
        let take = |slot: Mutex<Option<T>>| slot.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(slots.into_iter().filter_map(take).collect())
    }

    /// How many of `count` short jobs, neighbours, to do as one: so many that all threads have some, and where there are
    /// many, that who is done early takes over from others.
    pub(crate) fn job_of(&self, count: usize) -> usize {
        let threads = self.threads();
        count.div_ceil(if count <= 8 * threads { threads } else { 4 * threads }).max(1)
    }

    /// A number that no other array handle of this session has.
    pub(crate) fn next_id(&self) -> u64 {
        self.shared.ids.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn process(&self) -> &Process {
        self.shared.process.get()
    }
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("threads", &self.shared.threads).finish_non_exhaustive()
    }
}

/// Settings of a [`Session`], each with a default.
#[derive(Debug, Default)]
pub struct SessionBuilder {
    threads: Option<usize>,
    limits: Option<Limits>,
    registry: Option<Registry>,
}

impl SessionBuilder {
    /// Worker threads, at least 1. Default: `TESSARRAY_THREADS`, else the cores this process may use.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// What metadata may ask for. Default: [`Limits::default`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// The codecs that metadata may name. Default: all built-in ones.
    pub fn registry(mut self, registry: Registry) -> Self {
        self.registry = Some(registry);
        self
    }

    /// The session.
    pub fn build(self) -> Session {
        let from_environment = || std::env::var(THREADS_VARIABLE).ok()?.trim().parse().ok();
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = self.threads.or_else(from_environment).unwrap_or_else(cores).clamp(1, 1024);
        Session {
            shared: Arc::new(Shared {
                threads,
                limits: self.limits.unwrap_or_default(),
                registry: RwLock::new(Arc::new(self.registry.unwrap_or_default())),
                process: PerProcess::new(Process::new),
                ids: AtomicU64::new(0),
            }),
            gate: None,
            options: Options::default(),
        }
    }
}
