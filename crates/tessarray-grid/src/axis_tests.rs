use super::*;
use proptest::prelude::*;

/// Chunks of one length, listed lengths that are all the same, and any other; of 60 elements at least.
fn edges() -> impl Strategy<Value = Edges> {
    let run = (1u64..9, 1u64..5);
    let any = prop::collection::vec(run, 1..9).prop_map(|mut list| {
        list.push((7, 9));
        Edges::listed(list).unwrap()
    });
    prop_oneof![
        (1u64..20).prop_map(Edges::Each),
        (1u64..20).prop_map(|n| Edges::listed([(n, 60)]).unwrap()),
        any,
    ]
}

fn any_selection() -> impl Strategy<Value = AxisSelection> {
    let range = (0u64..60, -9i64..10, 0u64..30)
        .prop_map(|(start, step, len)| AxisSelection::Range { start, step, len })
        .prop_filter("inside", |selection| selection.check(0, 60).is_ok());
    prop_oneof![range, prop::collection::vec(0u64..60, 0..40).prop_map(AxisSelection::List)]
}

fn indices(selection: &AxisSelection) -> Vec<u64> {
    match selection {
        AxisSelection::List(list) => list.clone(),
        AxisSelection::Range { start, step, len } => {
            (0..*len as i64).map(|i| (*start as i64 + i * step) as u64).collect()
        }
    }
}

/// (array index, output index) of everything a plan selects.
fn elements(plan: &AxisPlan, edges: &Edges) -> Vec<(u64, u64)> {
    let mut all = Vec::new();
    for part in (0..plan.len()).map(|i| plan.part(i)) {
        let (begin, length) = (edges.begin(part.chunk), edges.length(part.chunk));
        match &part.run {
            Run::Strided { first, step, len, out } => all.extend((0..*len).map(|i| {
                let inside = (*first as i64 + i as i64 * step) as u64;
                assert!(inside < length);
                (begin + inside, out + i)
            })),
            Run::Listed(range) => {
                assert!(plan.pairs(range).iter().all(|(inside, _)| *inside < length));
                all.extend(plan.pairs(range).iter().map(|(inside, out)| (begin + inside, *out)));
            }
        }
    }
    all.sort_by_key(|(_, out)| *out);
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_selection_is_cut_without_losing_or_repeating_an_element(selection in any_selection(), edges in edges()) {
        let plan = AxisPlan::new(&selection, &edges);
        let expected: Vec<_> = indices(&selection).into_iter().zip(0..).collect();
        prop_assert_eq!(elements(&plan, &edges), expected);
        let chunks: Vec<u64> = (0..plan.len()).map(|i| plan.part(i).chunk).collect();
        let (mut up, mut down) = (chunks.windows(2), chunks.windows(2));
        prop_assert!(up.all(|pair| pair[0] < pair[1]) || down.all(|pair| pair[0] > pair[1]));
    }

    #[test]
    fn a_part_covers_its_chunk_exactly_when_every_element_is_selected(
        selection in any_selection(), edges in edges(), extent in 1u64..61,
    ) {
        let selected: Vec<u64> = indices(&selection).into_iter().filter(|&index| index < extent).collect();
        let plan = AxisPlan::new(&AxisSelection::List(selected.clone()), &edges);
        for part in (0..plan.len()).map(|i| plan.part(i)) {
            let begin = edges.begin(part.chunk);
            let end = (begin + edges.length(part.chunk)).min(extent);
            let all = (begin..end).all(|index| selected.contains(&index));
            prop_assert_eq!(plan.covers(&part, extent), all);
        }
    }

    #[test]
    fn listed_lengths_that_are_equal_give_the_parts_of_equal_chunks(selection in any_selection(), n in 1u64..20) {
        let (listed, each) = (Edges::listed([(n, 60)]).unwrap(), Edges::Each(n));
        let (listed, each) = (AxisPlan::new(&selection, &listed), AxisPlan::new(&selection, &each));
        prop_assert_eq!(listed.len(), each.len());
        for i in 0..each.len() {
            prop_assert_eq!(listed.part(i), each.part(i));
        }
    }

    #[test]
    fn groups_hold_the_parts_of_their_coarse_chunk_and_are_found_by_it(
        selection in any_selection(), edges in edges(), ratio in 1u64..5, outer in 1u64..3,
    ) {
        let plan = AxisPlan::new(&selection, &edges);
        let all = plan.groups(&(0..plan.len()), ratio * outer);
        let mut next = 0;
        for i in 0..all.len() {
            let (coarse, range) = all.get(i);
            prop_assert_eq!(range.start, next);
            next = range.end;
            prop_assert_eq!(all.find(coarse), Some(i));
            prop_assert!(range.clone().all(|part| plan.part(part).chunk / (ratio * outer) == coarse));
            let below = plan.groups(&range, ratio);
            let parts: Vec<usize> = (0..below.len()).flat_map(|j| below.get(j).1).collect();
            prop_assert_eq!(parts, range.collect::<Vec<_>>());
            for j in 0..below.len() {
                let (coarse, range) = below.get(j);
                prop_assert_eq!(below.find(coarse), Some(j));
                prop_assert!(range.into_iter().all(|part| plan.part(part).chunk / ratio == coarse));
            }
        }
        prop_assert_eq!(next, plan.len());
        for coarse in 0..70 {
            let touched = (0..plan.len()).any(|part| plan.part(part).chunk / (ratio * outer) == coarse);
            prop_assert_eq!(all.find(coarse).is_some(), touched);
        }
    }

    #[test]
    fn groups_by_listed_lengths_hold_the_parts_of_their_shard(
        selection in any_selection(), inner in 1u64..5, shards in prop::collection::vec((1u64..5, 1u64..4), 1..6),
    ) {
        let fine = Edges::Each(inner);
        let shards = shards.iter().map(|(n, count)| (n * inner, *count)).chain([(inner * 3, 60)]);
        let coarse = Edges::listed(shards).unwrap();
        let plan = AxisPlan::new(&selection, &fine);
        let groups = plan.groups_by(&(0..plan.len()), &coarse);
        let mut next = 0;
        for i in 0..groups.len() {
            let (shard, range) = groups.get(i);
            prop_assert_eq!(range.start, next);
            next = range.end;
            prop_assert_eq!(groups.find(shard), Some(i));
            prop_assert!(range.clone().all(|part| coarse.chunk_of(plan.part(part).chunk * inner) == shard));
            let begin = coarse.begin(shard);
            let below = plan.groups(&range, 1);
            prop_assert_eq!(below.len() as usize, range.len());
            prop_assert!((0..below.len()).all(|j| fine.begin(below.get(j).0) >= begin));
        }
        prop_assert_eq!(next, plan.len());
        for shard in 0..90 {
            let touched = (0..plan.len()).any(|i| coarse.chunk_of(plan.part(i).chunk * inner) == shard);
            prop_assert_eq!(groups.find(shard).is_some(), touched);
        }
    }
}

#[test]
fn a_run_of_any_number_of_chunks_is_planned_at_once() {
    let edges = Edges::listed([(2, 1), (1, 1 << 60), (3, 1)]).unwrap();
    let plan = AxisPlan::new(&AxisSelection::run(1, (1 << 60) + 3), &edges);
    assert_eq!(plan.len(), (1 << 60) + 2);
    assert_eq!(plan.part(1 << 40).chunk, 1 << 40);
    let groups = plan.groups(&(0..plan.len()), 1);
    assert_eq!((groups.len(), groups.find(1 << 60)), ((1 << 60) + 2, Some(1 << 60)));
}

#[test]
fn ranges_off_the_end_are_refused() {
    for (start, step, len) in
        [(0, 1, 11), (10, 1, 1), (5, -1, 7), (0, 0, 2), (u64::MAX, 1, 1), (1, i64::MIN, 2)]
    {
        assert!(AxisSelection::Range { start, step, len }.check(0, 10).is_err(), "{start} {step} {len}");
    }
    assert!(AxisSelection::Range { start: 9, step: -1, len: 10 }.check(0, 10).is_ok());
}
