import { NetworkError, RateLimitError, ServerError, WaitTimeoutError } from './errors.ts'
import { orAbort, pause } from './pause.ts'
import { type DebitDetail, finalDebitStatuses } from './wire.ts'

/** Milliseconds between the reads of all waits of a client: 800 of the published 1,000 a minute. */
const SPACING = 75
const FIRST_INTERVAL = 1_000
const LONGEST_INTERVAL = 10_000
const ELEVEN_MINUTES = 660_000

/** Returns the function that waits for the outcome of a debit. All waits share the spacing. */
export const openWaits = () => {
  let last: Promise<void> = Promise.resolve()
  // An aborted wait gives up its slot, so others are not delayed.
  const paceRead = (signal: AbortSignal): Promise<void> => {
    const own = last.then(() => signal.throwIfAborted())
    last = own.then(
      () => pause(SPACING),
      () => undefined,
    )
    return orAbort(own, signal)
  }

  return async (
    reference: string,
    read: (signal: AbortSignal) => Promise<DebitDetail>,
    options: { timeout?: number | undefined; signal?: AbortSignal | undefined },
  ): Promise<DebitDetail> => {
    const limit = AbortSignal.timeout(Math.ceil(options.timeout ?? ELEVEN_MINUTES))
    const signal = options.signal ? AbortSignal.any([options.signal, limit]) : limit
    let debit: DebitDetail | undefined
    let failure: unknown
    try {
      for (let interval = FIRST_INTERVAL; ; interval = Math.min(interval * 1.5, LONGEST_INTERVAL)) {
        await paceRead(signal)
        try {
          debit = await read(signal)
          if (isFinal(debit)) return debit
        } catch (error) {
          if (!isTemporary(error)) throw error
          failure = error
        }
        await pause(interval, signal)
      }
    } catch (error) {
      if (!limit.aborted || options.signal?.aborted) throw error
      throw new WaitTimeoutError(reference, debit, { cause: failure })
    }
  }
}

const isFinal = ({ status }: DebitDetail): boolean =>
  finalDebitStatuses.some((final) => final === status)

const isTemporary = (error: unknown): boolean =>
  error instanceof NetworkError || error instanceof RateLimitError || error instanceof ServerError
