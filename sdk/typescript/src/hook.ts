/** Calls a hook of the caller. Its failure, also a rejection, neither changes a result nor ends the process. */
export const callHook = (call: () => unknown): void => {
  new Promise((resolve) => resolve(call())).catch(() => undefined)
}
