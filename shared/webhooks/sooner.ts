/**
 * A signal that is aborted with the first of two. In place of `AbortSignal.any`, which on Node 24
 * forgets an abort that nobody listened for once the signal it came from is collected
 * (nodejs/node issue 65995): a bound that has passed must stay passed.
 */
export const sooner = (one: AbortSignal, other?: AbortSignal): AbortSignal => {
  if (!other) return one
  const first = new AbortController()
  for (const signal of [one, other]) {
    if (signal.aborted) first.abort(signal.reason)
    else signal.addEventListener('abort', () => first.abort(signal.reason), { once: true })
  }
  return first.signal
}
