/** Calls a hook of the caller. Its failure, also a rejection, neither changes a result nor ends the process. */
export const callHook = <A extends unknown[]>(hook: (...args: A) => unknown, ...args: A): void => {
  new Promise((resolve) => resolve(hook(...args))).catch(() => undefined)
}
