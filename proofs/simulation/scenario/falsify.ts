import type { Item } from '../../../sandbox/aws/table/change.ts'
import type { Aws } from '../aws/aws.ts'
import type { FalsifiedDay } from '../engine/observations.ts'
import { randomOf, seedOf } from '../engine/random.ts'
import {
  batchIn,
  type Kind,
  kindOf,
  ownerIn,
  type RawBatch,
  type RawChunk,
  type RawDebit,
} from '../invariants/raw-items.ts'
import { type Operators, resultOf } from '../peers/operators.ts'
import { RECONCILES } from './nights.ts'
import type { Scenario } from './scenario.ts'

/** Wrong items in the table of a finished run, each of which the reconciliation of its day must name. */

type Stored = Item & { reference?: string } & Partial<
    Pick<RawDebit, 'settledIn' | 'history' | 'amount'> &
      Pick<RawBatch, 'totals' | 'bankReference' | 'completedAt'> &
      RawChunk
  >

const MONEY = new Set<Kind>(['debit', 'claim', 'lines', 'batch', 'refund'])

/** Returns the wrong members of an item or LOST, and nothing for an item of another kind. */
type Falsification = (item: Stored) => object | null | undefined | false | ''

const LOST = {}

/** Returns rows of lines, the first of which has another fee. */
const withFee = (rows: string): string => {
  const [first = '', ...others] = rows.split('\n')
  const line = JSON.parse(first)
  return [JSON.stringify([...line.slice(0, -1), line.at(-1) + 1]), ...others].join('\n')
}

const failed = ({ completedAt }: Stored) => ({
  ...{ status: 'failed', failedAt: completedAt, failure: 'The account is closed' },
  ...{ completedAt: null, bankReference: null },
})

const withMore = ({ amount = 0 }: Stored) => ({ amount: amount + 1 })

const falsifications: Record<string, Falsification> = {
  'a settled debit has another amount': (item) => item.settledIn && withMore(item),
  'a settled debit is in no batch': ({ settledIn }) => settledIn && { settledIn: undefined },
  'a debit lacks its last change': ({ history }) => history && { history: history.slice(0, -1) },
  'a debit is lost': ({ entity }) => entity === 'debit' && LOST,
  'a claim is lost': (item) => kindOf(item) === 'claim' && LOST,
  'a line has another fee': ({ debits }) => debits && { debits: withFee(debits) },
  'an adjustment has another fee': ({ adjustments }) =>
    adjustments && { adjustments: withFee(adjustments) },
  'lines are lost': ({ entity }) => entity === 'lines' && LOST,
  'a batch has another net': ({ totals }) =>
    totals && { totals: { ...totals, net: totals.net + 1 } },
  'a paid batch has failed': (item) =>
    item.entity === 'batch' && item.bankReference && failed(item),
  'a completed refund has another amount': (item) =>
    item.entity === 'refund' && item.completedAt && withMore(item),
}

/** Returns the debit or batch that the reconciliation names. */
const subjectOf = ({ entity, pk, reference = '' }: Stored): string =>
  entity === 'batch' || entity === 'lines' ? ownerIn(pk) : reference

/** Returns the day whose reconciliation reads an item. */
const dayOf = (item: Stored): string =>
  item.entity === 'refund'
    ? String(item.completedAt).slice(0, 10)
    : subjectOf(item).replace(/^\w+-(\d{4})(\d\d)(\d\d)-.*$/, '$1-$2-$3')

/** Returns the batch of a settled debit, else the subject. */
const batchOf = (item: Stored): string => batchIn(item.settledIn) ?? subjectOf(item)

type Tools = Pick<Aws, 'items' | 'overwrite'> & { operators: Operators }

/** Falsifies items of one day, each of another debit and batch, and reconciles the day. */
export const falsify = async (
  { seed }: Scenario,
  { operators, items, overwrite }: Tools,
): Promise<FalsifiedDay | undefined> => {
  const random = randomOf(seedOf(seed, 18))
  const all = (items() as Stored[]).filter((item) => MONEY.has(kindOf(item)))
  if (all.length === 0) return undefined
  const date = dayOf(random.pick(all))
  const ofDay = all.filter((item) => dayOf(item) === date)
  const used = new Set<string>()
  const chosen = Object.entries(falsifications).flatMap(([name, falsifying]) => {
    const candidates = ofDay.flatMap((item) => {
      const isUsed = used.has(subjectOf(item)) || used.has(batchOf(item))
      const change = !isUsed && falsifying(item)
      return change ? [{ name, item, change }] : []
    })
    if (candidates.length === 0) return []
    const one = random.pick(candidates)
    const subject = subjectOf(one.item)
    used.add(subject).add(batchOf(one.item))
    return [{ ...one, subject }]
  })
  const writes = chosen.map(({ item, change }) => ({
    Key: item,
    Item: change === LOST ? undefined : { ...item, ...change },
  }))
  overwrite(writes)
  const call = await operators.operate('reconciliation', 'run', { date }, RECONCILES)
  const named = chosen.map(({ subject, name }) => ({ subject, name }))
  return { date, items: named, result: resultOf(call) }
}
