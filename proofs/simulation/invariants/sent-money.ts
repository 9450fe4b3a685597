import type { Check } from './observation-index.ts'

/** 60, 61: what a payout, a refund or a debit must have before it is sent to a bank. */

/** 60: no bank receives a request for nothing. */
export const sentAmountsArePositive: Check = ({ observations }, report) => {
  for (const { idempotencyKey, bank, path, body } of observations.bankPosts) {
    if (!(Number(body.amount) > 0)) report(idempotencyKey, `sends ${body.amount} to ${bank}${path}`)
  }
}

const FORMATS = ['json', 'csv']

/** 61: the reports of a batch are in the bucket before its payout or offset begins. */
export const reportsPrecedePayouts: Check = ({ batches, observations }, report) => {
  const written = new Map<string, number>()
  for (const { key, at } of observations.reports) {
    if (!written.has(key)) written.set(key, at)
  }
  for (const [id, { item, changes }] of batches) {
    const begin = changes.find(
      ({ before, after }) => before?.status === 'pending' && after && after.status !== 'pending',
    )
    for (const format of begin ? FORMATS : []) {
      const at = written.get(`settlements/${item.provider}/${id}.${format}`) ?? Infinity
      if (begin && at > begin.at) report(id, `is paid before its ${format} report exists`)
    }
  }
}
