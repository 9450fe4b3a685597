import type { Check } from './observation-index.ts'

/** 72: after a restore, the timeouts, payouts and refunds of a provider wait for its release. */
export const restoresHold: Check = (index, report) => {
  const { batches, byUuid, bankPostsTo, debits, operatorCalls } = index
  const calls = operatorCalls.filter(({ noun }) => noun === 'restore')
  const begunAt = calls.find(({ verb }) => verb === 'begin')?.call.reply?.at
  if (begunAt === undefined) return
  const releasedAt = (provider: string): number =>
    calls.find(
      ({ verb, options }) => verb === 'release' && (options.provider ?? provider) === provider,
    )?.call.at ?? Number.POSITIVE_INFINITY
  const expectReleased = (about: string, provider: string | undefined, at: number): void => {
    if (provider && at > begunAt && at < releasedAt(provider))
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
    const end = entries.find(({ type, by }) => type === 'failed' && by.startsWith('job:'))
    if (end) expectReleased(`the timeout of ${reference}`, item.provider, end.writtenAt)
  }
}
