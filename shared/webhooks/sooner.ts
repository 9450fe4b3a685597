/**
 * A signal that is aborted with the first of two. In place of `AbortSignal.any`, which on Node 24
 * forgets an abort that nobody listened for once the signal it came from is collected
 * (nodejs/node issue 65995): a bound that has passed must stay passed.
 * @param over ends it: until then, or until their own time, both are held in memory
 */
export const sooner = (one: AbortSignal, other: AbortSignal, over: AbortSignal): AbortSignal => {
  const first = new AbortController()
  for (const signal of [one, other]) {
    const pass = (): void => first.abort(signal.reason)
    if (signal.aborted) pass()
    else signal.addEventListener('abort', pass, { once: true, signal: over })
  }
  return first.signal
}
