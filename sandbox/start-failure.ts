/** Thrown for what the person who started the sandbox can mend; its message is all they need. */
export class StartFailure extends Error {}
