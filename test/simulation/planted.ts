import type { Asked, Change, Item, Post, Witnessed } from '../../simulation/engine/observations.ts'
import type {
  RawBatch,
  RawDebit,
  RawDelivery,
  RawLine,
} from '../../simulation/invariants/raw-items.ts'
import type { Life } from './one-life.ts'

/** A life that may be tampered with: a copy of its own for each fault that is planted. */
export type Tampered = Omit<
  Witnessed,
  'items' | 'changes' | 'asked' | 'posts' | 'handOvers' | 'scene'
> & {
  scene: Witnessed['scene'] & {
    healthy: boolean
    healedAt: number
    providers: SceneProviders
    endpoints: readonly string[]
  }
  items: Item[]
  changes: Change[]
  asked: Asked[]
  posts: Post[]
  handOvers: Witnessed['handOvers'][number][]
  questions: Witnessed['questions']
}

type SceneProviders = Witnessed['scene']['providers'][number][]

export type Names = Life['names']

/** One way in which a world may be wrong. */
export type Fault = {
  /** The invariant that must complain. */
  number: number
  what: string
  plant: (world: Tampered, names: Names) => void
}

export const must = <T>(found: T | null | undefined): T => {
  if (found === undefined || found === null) throw new Error('There is nothing to tamper with')
  return found
}

const itemOf = <T extends Item>(items: readonly Item[], pk: string, sk: string): T =>
  must(items.find((item) => item.pk === pk && item.sk === sk)) as T

export const debitOf = ({ items }: Tampered, reference: string): RawDebit =>
  itemOf(items, `DEBIT#${reference}`, 'DEBIT')

export const deliveryOf = ({ items }: Tampered, reference: string, n: number): RawDelivery =>
  itemOf(items, `DEBIT#${reference}`, `DELIVERY#0${n}`)

export const batchOf = ({ items }: Tampered, date: string): RawBatch =>
  must(items.find((item) => item.entity === 'batch' && item.date === date)) as RawBatch

export const lineOf = ({ items }: Tampered, reference: string, type = 'debit'): RawLine =>
  must(
    items.find(
      (item) => item.entity === 'line' && item.reference === reference && item.type === type,
    ),
  ) as RawLine

/** Takes an item out, and all that is known of how it came to be. */
export const take = (world: Tampered, gone: Item): void => {
  const isIt = (item: Item | undefined): boolean => item?.pk === gone.pk && item.sk === gone.sk
  world.items = world.items.filter((item) => !isIt(item))
  world.changes = world.changes.filter(({ before, after }) => !isIt(after ?? before))
}

/** The changes of one item. */
export const changesOf = ({ changes }: Tampered, { pk, sk }: Item): Change[] =>
  changes.filter(({ before, after }) => {
    const item = after ?? before
    return item?.pk === pk && item.sk === sk
  })

/** Writes an item once more. */
export const write = (
  world: Tampered,
  { before, after }: Pick<Change, 'before' | 'after'>,
  name = 'sweep',
): void => {
  const last = must(world.changes.at(-1))
  const { sequence, transaction, at } = last
  const by = { name, invocation: 0 }
  world.changes.push({
    sequence: sequence + 1,
    transaction: transaction + 1,
    at,
    before,
    after,
    by,
  })
}

/** The same item with some members changed, in the end and in the write that comes last. */
export const overwrite = (world: Tampered, item: Item, members: object, name?: string): void => {
  const before = structuredClone(item)
  Object.assign(item, members)
  write(world, { before, after: structuredClone(item) }, name)
}

/** Changes members of an item as if they had been so from the first. */
export const falsify = (world: Tampered, item: Item, members: object): void => {
  Object.assign(item, members)
  for (const { before, after } of changesOf(world, item)) {
    if (before) Object.assign(before, members)
    if (after) Object.assign(after, members)
  }
}

/** The posts of an event. */
export const postsOf = ({ posts }: Tampered, reference: string, n: number): Post[] =>
  posts.filter(({ raw }) => {
    const { sequence, data } = JSON.parse(raw)
    return sequence === n && data.transaction?.reference === reference
  })

export const replyOf = ({ reply }: Asked): NonNullable<Asked['reply']> => must(reply)

/** How a debit was read while it was processing. */
export const readOf = ({ asked }: Tampered): Asked =>
  must(asked.find(({ name }) => name === 'get-debit-request'))
