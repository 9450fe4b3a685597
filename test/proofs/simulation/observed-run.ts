import type { Observations } from '../../../proofs/simulation/engine/observations.ts'
import type { Change, Item } from '../../../sandbox/aws/table/change.ts'

/** Finds and changes the observations of a run. */

// biome-ignore lint/suspicious/noExplicitAny: rows change members of every kind of observation
export type Any = any
export type Run = { [K in keyof Observations]: Any }

export const itemsOf = ({ items }: Run, members: object): Any[] =>
  items.filter((item: Any) =>
    Object.entries(members).every(([name, value]) => item[name] === value),
  )

export const itemOf = (run: Run, members: object): Any => required(itemsOf(run, members)[0])

export const required = (value: Any): Any => {
  if (value === undefined) throw new Error('The run has no such observation')
  return value
}

const DEBITS = { settled: 0, reversed: 5, failed: 10, expired: 15, next: 20 }

export const debit = (run: Run, name: keyof typeof DEBITS): Any =>
  itemOf(run, { entity: 'debit', narration: `Debit ${DEBITS[name]}` })

export const batch = (run: Run): Any => itemOf(run, { entity: 'batch' })

/** Returns the chunk with the line of a debit. */
export const chunk = (run: Run, name: keyof typeof DEBITS, type: LineType = 'debits'): Any =>
  required(
    itemsOf(run, { entity: 'lines' }).find((item: Any) =>
      item[type]?.includes(debit(run, name).reference),
    ),
  )

type LineType = 'debits' | 'adjustments'

export const call = ({ calls }: Run, test: (call: Any) => boolean): Any =>
  required(calls.find(test))

export const changesOf = ({ changes }: Run, { pk, sk }: Item): Any[] =>
  changes.filter(({ before, after }: Change) => {
    const item = after ?? before
    return item?.pk === pk && item.sk === sk
  })

export const remove = (run: Run, removed: Item): void => {
  run.items = run.items.filter((item: Item) => item !== removed)
}

/** Changes members of an item in its last image and in every recorded one. */
export const rewrite = (run: Run, item: Item, members: object): void => {
  const images = changesOf(run, item).flatMap(({ before, after }) => [before, after])
  for (const image of [item, ...images]) if (image) Object.assign(image, members)
}

/** Adds one write that changes members of an item. */
export const append = (run: Run, item: Item, members: object): void => {
  const { sequence, transaction, at } = run.changes.at(-1)
  const before = structuredClone(item)
  Object.assign(item, members)
  const by = { name: 'sweep', invocation: 0 }
  const after = structuredClone(item)
  const next = { sequence: sequence + 1, transaction: transaction + 1, at, before, after, by }
  run.changes.push(next)
}

export const entry = (run: Run, name: keyof typeof DEBITS, type: string): Any =>
  required(debit(run, name).history.find((entry: Any) => entry.type === type))

/** A post of the event `completed`. */
export const completedPost = (run: Run): Any =>
  required(run.posts.find(({ raw }: Any) => raw.includes('"event":"transaction.completed"')))

/** The record of the event whose first attempt failed, after that attempt. */
export const failedAttempt = ({ changes }: Run): Any =>
  required(changes.find(({ after }: Any) => after?.nextAttemptAt && after.last)).after

export const payout = ({ bankPosts }: Run): Any =>
  required(bankPosts.find(({ path }: Any) => path === '/settlements'))

export const charges = ({ calls }: Run): Any[] => calls.filter(({ name }: Any) => name === 'charge')
