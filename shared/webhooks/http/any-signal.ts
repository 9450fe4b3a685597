/**
 * Returns a signal that aborts with the first of its sources, and a function that releases them.
 * Replaces `AbortSignal.any`, which on Node 24 loses an abort without listeners when its source is
 * garbage-collected (nodejs/node issue 65995).
 */
export const anySignal = (...sources: AbortSignal[]): { signal: AbortSignal; end: () => void } => {
  const controller = new AbortController()
  const abort = ({ target }: Event): void => controller.abort((target as AbortSignal).reason)
  for (const source of sources) {
    if (source.aborted) controller.abort(source.reason)
    else source.addEventListener('abort', abort)
  }
  return {
    signal: controller.signal,
    end: () => {
      for (const source of sources) source.removeEventListener('abort', abort)
    },
  }
}
