import type { BankPost } from '../engine/observations.ts'
import type { Check, Reporter } from './invariant.ts'
import type { DebitHistory } from './observation-index.ts'
import { inGhs } from './time-and-money.ts'

/** 11: a bank acts on a debit once, with any number of submissions. */
export const bankActsOnce: Check = ({ observations, byUuid }, report) => {
  const submissions = observations.bankPosts.filter(({ path }) => path === '/submissions')
  for (const [uuid, posts] of Map.groupBy(submissions, ({ body }) => String(body.uuid))) {
    const debit = byUuid.get(uuid)
    const effective = posts.filter((post) => post.effective).length
    if (effective > 1 && observations.setup.isIdempotent)
      report(uuid, `was acted on ${effective} times`)
    if (new Set(posts.map(({ body }) => JSON.stringify(body))).size > 1) {
      report(uuid, 'was submitted with different bodies')
    }
    for (const post of posts) {
      if (post.idempotencyKey !== uuid) report(uuid, `has the key ${post.idempotencyKey}`)
      checkPost(post, debit, report)
    }
  }
}

const checkPost = (posts: BankPost, debit: DebitHistory | undefined, report: Reporter): void => {
  const { body, bank, at } = posts
  if (!debit) {
    report(String(body.uuid), 'was submitted, but does not exist')
    return
  }
  const { item, changes } = debit
  const isAsCharged =
    bank === item.bank.identifier &&
    body.reference === item.reference &&
    body.phone_number === item.phone &&
    body.narration === item.narration &&
    body.currency === 'GHS' &&
    body.amount === inGhs(item.amount)
  if (!isAsCharged) report(item.reference, `was submitted to ${bank} with other facts`)
  if ((changes[0]?.at ?? Number.POSITIVE_INFINITY) > at) {
    report(item.reference, 'was submitted before it existed')
  }
}
