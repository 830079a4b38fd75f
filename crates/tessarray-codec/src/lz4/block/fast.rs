//! The sequences that most blocks mostly have: lengths of some hundreds at most, away from the ends of input and output.
//!
//! What is copied are always 16 or 32 bytes at once, however few are due, and a short match has the same instructions
//! whatever its distance is: nothing can foretell a branch on either in noisy data, and a wrong guess costs more than the
//! copy. What is written too much is written over by the next sequence.

use super::lanes::{Lanes, STEPS, WIDTH};
use super::{BlockDecoder, MIN_MATCH, MORE};

/// The most bytes that a match's length has here after its half of the token.
const LENGTH: usize = 4;
/// Bytes of input that may be read from a token on when its literals are not many: itself, 14 literals, the distance, the
/// length, and the next token.
const INPUT: usize = 1 + (MORE - 1) + 2 + LENGTH + 1;
/// Bytes of output from the end of literals on that may be written before the length of the match is looked at, and more
/// than there are in 14 literals and 32 bytes of a match.
const OUTPUT: usize = 64;
/// Bytes that may be written after the end of a match or of literals: copies go on in pairs of lanes.
const PAST: usize = 2 * WIDTH;

/// Decodes sequences for as long as they are such, and leaves the block at the token of the first that is not: one that is
/// malformed, or nothing but an odd one.
#[inline(always)]
pub(super) fn run<L: Lanes>(block: &mut BlockDecoder) {
    let (Some(last_in), Some(last_out)) =
        (block.src.len().checked_sub(INPUT), block.dst.len().checked_sub(OUTPUT))
    else {
        return;
    };
    let until = block.target.min(last_out + 1);
    if block.read > last_in || block.written >= until {
        return;
    }
    let (src, dst) = (block.src.as_ptr(), block.dst.as_mut_ptr());
    // SAFETY: all four are inside the two slices, or at an end.
    let (last_in, last_out, until) = unsafe { (src.add(last_in), dst.add(last_out), dst.add(until)) };
    // SAFETY: likewise.
    let (mut input, mut output) = unsafe { (src.add(block.read), dst.add(block.written)) };
    // SAFETY: `input` is not behind `last_in`, so it has `INPUT` bytes.
    let mut token = usize::from(unsafe { *input });
    // `input` has `INPUT` bytes and `output` has `OUTPUT`, in each round; `token` is the first of `input`.
    while output < until && input <= last_in {
        // SAFETY: the second of `INPUT` bytes.
        let mut from = unsafe { input.add(1) };
        let mut literals = token >> 4;
        if literals == MORE {
            // SAFETY: the second of `INPUT` bytes.
            let more = usize::from(unsafe { *from });
            literals += more;
            // SAFETY: the third of them.
            from = unsafe { from.add(1) };
            // SAFETY: `input` is not behind `last_in`, nor `output` behind `last_out`, both of their own slice.
            let (room_in, room_out) =
                unsafe { (last_in.offset_from_unsigned(input), last_out.offset_from_unsigned(output)) };
            // So much before `last_in` that there are `PAST` bytes after the literals.
            if more == 255 || literals + PAST > room_in || literals > room_out {
                break;
            }
            // SAFETY: there are `PAST` bytes after the literals in the input, and `OUTPUT` in the output.
            unsafe { copy::<L>(from, output, literals) };
        } else {
            // SAFETY: of `INPUT` and `OUTPUT` bytes, 17 and 16.
            unsafe { L::load(from).store(output) };
        }
        // SAFETY: the literals are in the input, and after them at least 2 bytes of distance, `LENGTH` of length and a token;
        // in the output there is room for them and for `OUTPUT - 14` bytes more.
        let (after, to) = unsafe { (from.add(literals), output.add(literals)) };
        // SAFETY: see above.
        let distance = usize::from(u16::from_le_bytes(unsafe { after.cast::<[u8; 2]>().read() }));
        // SAFETY: `to` is in the output, which starts at `dst`.
        if distance == 0 || distance > unsafe { to.offset_from_unsigned(dst) } {
            break;
        }
        // SAFETY: so much has been written before `to`.
        let from = unsafe { to.sub(distance).cast_const() };
        // SAFETY: see above.
        let mut after = unsafe { after.add(2) };
        let mut len = token & MORE;
        // SAFETY: see above.
        let more = usize::from(unsafe { *after });
        if len < MORE {
            // SAFETY: 32 bytes are there at `to`, and so at `from`, which is before it.
            unsafe { short::<L>(from, to, distance, len + MIN_MATCH) };
            input = after;
            // SAFETY: 18 of the bytes at `to`.
            output = unsafe { to.add(len + MIN_MATCH) };
            token = more;
            continue;
        }
        // SAFETY: one more of the bytes after the literals.
        after = unsafe { after.add(1) };
        len += MIN_MATCH + more;
        if more == 255 {
            // SAFETY: `LENGTH - 1` bytes of length are left, and a token after them.
            let Some((rest, next)) = (unsafe { further(after) }) else { break };
            (len, after) = (len + rest, next);
        }
        // SAFETY: `to` is at most 14 bytes behind `last_out`, and both are in the output.
        if len > unsafe { last_out.add(OUTPUT - PAST).offset_from_unsigned(to) } {
            break;
        }
        // SAFETY: there are `PAST` bytes after the match.
        unsafe { long::<L>(from, to, distance, len) };
        input = after;
        // SAFETY: there is room for the match.
        output = unsafe { to.add(len) };
        // SAFETY: a token is after the length.
        token = usize::from(unsafe { *input });
    }
    // SAFETY: each has gone on from the start of its slice.
    let done = unsafe { (input.offset_from_unsigned(src), output.offset_from_unsigned(dst)) };
    (block.read, block.written) = done;
}

/// The rest of a length whose first byte was 255, and where it ends; `None` if that is not among the `LENGTH`.
///
/// # Safety
///
/// `LENGTH - 1` bytes can be read at `from`.
#[cold]
unsafe fn further(from: *const u8) -> Option<(usize, *const u8)> {
    let mut sum = 0;
    for at in 0..LENGTH - 1 {
        // SAFETY: one of the caller's.
        let byte = usize::from(unsafe { *from.add(at) });
        sum += byte;
        if byte < 255 {
            // SAFETY: at most the end of them.
            return Some((sum, unsafe { from.add(at + 1) }));
        }
    }
    None
}

/// Copies at least `len` bytes, in pairs of lanes. Where the two overlap, `from` is at least 16 bytes before `to`, and what
/// is written is read again.
///
/// # Safety
///
/// `len + PAST` bytes can be read at `from` and written at `to`.
#[inline(always)]
unsafe fn copy<L: Lanes>(from: *const u8, to: *mut u8, len: usize) {
    let mut at = 0;
    while {
        // SAFETY: `at` is below `len`, or 0, so `PAST` bytes are there.
        unsafe {
            L::load(from.add(at)).store(to.add(at));
            L::load(from.add(at + WIDTH)).store(to.add(at + WIDTH));
        }
        at += PAST;
        at < len
    } {}
}

/// Writes a match of up to 18 bytes: what is in one lane without a branch.
///
/// # Safety
///
/// `from` is `distance` bytes before `to`, at least 1; `PAST` bytes can be written at `to`.
#[inline(always)]
unsafe fn short<L: Lanes>(from: *const u8, to: *mut u8, distance: usize, len: usize) {
    // SAFETY: `from` is before `to`, so 16 bytes are there, too; what of them is not yet written is not in the pattern.
    let lanes = unsafe { L::load(from) }.repeated(distance);
    // SAFETY: `PAST` bytes are there at `to`.
    unsafe { lanes.store(to) };
    if len > WIDTH {
        if distance >= WIDTH {
            // SAFETY: as above, and the bytes have been written, as far as they are part of the match.
            unsafe { L::load(from.add(WIDTH)).store(to.add(WIDTH)) };
        } else {
            // SAFETY: a step is at most 16.
            unsafe { lanes.store(to.add(usize::from(STEPS[distance]))) };
        }
    }
}

/// Writes a match of any length.
///
/// # Safety
///
/// `from` is `distance` bytes before `to`, at least 1; `len + PAST` bytes can be written at `to`.
#[inline(always)]
unsafe fn long<L: Lanes>(from: *const u8, to: *mut u8, distance: usize, len: usize) {
    if distance >= WIDTH {
        // SAFETY: the caller's; `from` is before `to`, so as many bytes can be read there.
        return unsafe { copy::<L>(from, to, len) };
    }
    // SAFETY: a byte before `to`; 16 bytes from there on, of which those not yet written are not in the pattern. A run is
    // read as one byte since the processor waits for all 16 when they were written one lot after the other.
    let lanes = unsafe { if distance == 1 { L::all(*from) } else { L::load(from).repeated(distance) } };
    let step = usize::from(STEPS[distance]);
    let mut at = 0;
    while {
        // SAFETY: `at` is below `len`, or 0, and a step is at most 16.
        unsafe {
            lanes.store(to.add(at));
            lanes.store(to.add(at + step));
        }
        at += 2 * step;
        at < len
    } {}
}
