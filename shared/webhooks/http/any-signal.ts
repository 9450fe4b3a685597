/**
 * A signal that is aborted with the first of two. In place of `AbortSignal.any`, which on Node 24
 * forgets an abort that nobody listened for once the signal it came from is collected
 * (nodejs/node issue 65995): a bound that has passed must stay passed.
 * @returns with it what ends it: until then, or until their own time, both are held in memory
 */
export const anySignal = (
  one: AbortSignal,
  other: AbortSignal,
): { signal: AbortSignal; end: () => void } => {
  const first = new AbortController()
  const pass = ({ target }: Event): void => first.abort((target as AbortSignal).reason)
  const sources = [one, other]
  for (const signal of sources) {
    if (signal.aborted) first.abort(signal.reason)
    else signal.addEventListener('abort', pass)
  }
  return {
    signal: first.signal,
    end: () => {
      for (const signal of sources) signal.removeEventListener('abort', pass)
    },
  }
}
