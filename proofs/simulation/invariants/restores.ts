import type { Check, ObservationIndex } from './observation-index.ts'
import { isRefusal } from './prompts.ts'

/** Returns the first call that releases a provider after a restore. */
export const releaseOf = ({ operatorCalls }: ObservationIndex, provider: string) =>
  operatorCalls.find(
    ({ noun, verb, options }) =>
      noun === 'restore' && verb === 'release' && (options.provider ?? provider) === provider,
  )?.call

/** Returns the call that begins the operation of a restored table. */
export const restoreOf = ({ operatorCalls }: ObservationIndex) =>
  operatorCalls.find(({ noun, verb }) => noun === 'restore' && verb === 'begin')?.call

/** 72: after a restore, the timeouts, payouts and refunds of a provider wait for its release. */
export const restoresHold: Check = (index, report) => {
  const { batches, byUuid, bankPostsTo, debits, observations } = index
  const begunAt = restoreOf(index)?.reply?.at
  if (begunAt === undefined) return
  const expectReleased = (about: string, provider: string | undefined, at: number): void => {
    if (provider && at > begunAt && at < (releaseOf(index, provider)?.at ?? at + 1))
      report(about, `of ${provider} did not wait for its release`)
  }
  for (const { at, body } of bankPostsTo.get('/settlements') ?? []) {
    const id = String(body.batch)
    expectReleased(`the payout of ${id}`, batches.get(id)?.item.provider, at)
  }
  for (const { at, body } of bankPostsTo.get('/refunds') ?? []) {
    const uuid = String(body.debit_uuid)
    expectReleased(`the refund of ${uuid}`, byUuid.get(uuid)?.item.provider, at)
  }
  for (const [reference, { item, entries }] of debits) {
    const end = entries.find(
      (entry) => entry.type === 'failed' && entry.by.startsWith('job:') && !isRefusal(entry),
    )
    // The clock of its invocation may be behind.
    const latest = (end?.writtenAt ?? 0) + observations.setup.skew
    if (end) expectReleased(`the timeout of ${reference}`, item.provider, latest)
  }
}
