//! Dimensions along which letters lie: texts of fixed length in netCDF's classic model, as `PLATFORM_NUMBER(N_PROF, STRING8)`.

use crate::collection::Collection;
use crate::error::Result;
use crate::kinds::Kind;
use std::collections::BTreeSet;
use tessarray_buffer::DataType;

impl Collection {
    /// Names of the dimensions that only letters have, and have last: their elements along it make one text.
    ///
    /// `N_LEVELS` of `TEMP_QC(N_PROF, N_LEVELS)` is none if numbers have it too: those letters are one flag a level. Costs
    /// the index, and a look at each kind of array; kept.
    ///
    /// # Errors
    /// What [`Collection::index`] gives.
    pub fn letter_dimensions(&self) -> Result<&BTreeSet<String>> {
        if let Some(known) = self.letters.get() {
            return Ok(known);
        }
        self.index()?;
        let (mut letters, mut others) = (BTreeSet::new(), BTreeSet::new());
        for kind in self.kinds.all() {
            let Kind::Array(array) = &*kind else { continue };
            let metadata = array.metadata();
            let names: Vec<&String> = metadata.dimension_names.iter().flatten().flatten().collect();
            let texts = matches!(metadata.data_type, DataType::FixedBytes(_));
            let last = metadata.dimension_names.iter().flatten().next_back().and_then(Option::as_ref);
            for name in names {
                let along = texts && last == Some(name);
                if along { &mut letters } else { &mut others }.insert(name.clone());
            }
        }
        Ok(self.letters.get_or_init(|| &letters - &others))
    }
}
