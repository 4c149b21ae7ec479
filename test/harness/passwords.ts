export const TEST_PASSWORD = 'a long test password';
/** Of the same password, as the sign-in library stores it: hashing it for each of a thousand users would take minutes. */
export const TEST_PASSWORD_HASH =
  '63c7c4a7445bb13428a7f88a741d44d3:db4d2ce6fef915d3195eba3ef4144acca99268280975fb124dae5d3ae062f5db846870f5114fe222897920bcd51c82436613f646d7c8650ad235ea926106c2b8';
