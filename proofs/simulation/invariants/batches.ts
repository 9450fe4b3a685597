import type { Check } from './observation-index.ts'
import { inGhs } from './time-and-money.ts'

/** 25: a bank pays a batch once, under its key. The reconciliation compares the sums (47). */
export const batchesArePaidOnce: Check = ({ batches, bankPostsTo }, report) => {
  const payouts = (bankPostsTo.get('/settlements') ?? []).filter(
    ({ verdict }) => verdict === 'paid',
  )
  const payoutsOf = Map.groupBy(payouts, ({ body }) => body.batch)
  for (const [id, { item }] of batches) {
    const { uuid, status, paid } = item
    const amounts = new Map(
      payoutsOf.get(id)?.map(({ idempotencyKey, body }) => [idempotencyKey, body.amount]),
    )
    if (amounts.size > 1) report(id, `was paid ${amounts.size} times`)
    if (status === 'completed' && (paid ?? 0) > 0 && amounts.size === 0) {
      report(id, 'is completed, but no bank paid it')
    }
    for (const [key, amount] of amounts) {
      if (uuid !== key || status === 'failed') {
        report(id, `was paid under ${key}, but is ${status} under ${uuid}`)
      }
      if (amount !== inGhs(paid ?? 0)) report(id, `was paid ${amount}, not ${paid}`)
    }
  }
}
