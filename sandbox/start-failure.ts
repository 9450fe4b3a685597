/** Thrown for a problem that the user can fix; the message is the whole output. */
export class StartFailure extends Error {}
