import { type Figure, type Measure, markdownTable } from '../figures.ts'
import {
  billOf,
  dollarsOf,
  lambdaTimeOf,
  type Quantities,
  quantitiesOf,
  storageOf,
} from '../load/bill.ts'
import { idleMonth } from '../load/idle.ts'
import { NIGHTS } from '../load/schedules.ts'
import { perDebit, type Usage } from '../load/usage.ts'
import { type Load, type LoadResult, runLoad } from '../load/world.ts'

const MILLION = 1_000_000
/** DynamoDB adds this to the size of each stored item. */
const ITEM_OVERHEAD_BYTES = 100

/** Reads each debit of the day again. Its part is shown, but it is not a step of a debit. */
const RECONCILIATION = 'reconcile-part'

const loads = (short: boolean): Record<'underLoad' | 'single', Load> => ({
  underLoad: { providers: 1, perSecond: 64, seconds: short ? 10 : 60 },
  single: { providers: 1, perSecond: 0.1, seconds: short ? 200 : 900 },
})

type Counted = {
  result: LoadResult
  /** Per debit, by function. */
  usage: Map<string, Usage>
  quantities: Quantities
  reconciled: Usage | undefined
}

const count = async (load: Load): Promise<Counted> => {
  const result = await runLoad(load)
  const idle = await runLoad({ ...load, perSecond: 0 })
  const usage = perDebit(result.byFunction, idle.byFunction, result.debits)
  const reconciled = usage.get(RECONCILIATION)
  usage.delete(RECONCILIATION)
  const quantities = quantitiesOf(usage.values(), result.schedulerInvocations / result.debits)
  return { result, usage, quantities, reconciled }
}

const figuresOf = (underLoad: Quantities, single: Quantities, idle: number): Figure[] => [
  { name: 'write units under load', ours: underLoad.written, target: { atMost: 18.5 } },
  { name: 'write units, single debits', ours: single.written, target: { atMost: 22 } },
  { name: 'read units under load', ours: underLoad.read, target: { atMost: 11 } },
  { name: 'SQS requests under load', ours: underLoad.sqs, target: { atMost: 4 } },
  { name: 'Lambda invocations under load', ours: underLoad.invocations, target: { atMost: 4 } },
  {
    name: 'Scheduler invocations under load',
    ours: underLoad.schedulerInvocations,
    target: { atMost: 0.1 },
  },
  {
    name: 'a million debits under load, list prices',
    unit: '$',
    ours: dollarsOf(billOf(underLoad, MILLION)),
    target: { atMost: 27 },
  },
  {
    name: 'a million debits under load, time of Lambda (model)',
    unit: '$',
    ours: lambdaTimeOf(underLoad, MILLION),
    target: { atMost: 2.5 },
  },
  {
    name: 'a million single debits, list prices',
    unit: '$',
    ours: dollarsOf(billOf(single, MILLION)),
  },
  { name: 'a month without debits, production', unit: '$', ours: idle },
]

const rounded = (value: number): string => (Math.abs(value) < 0.005 ? '' : value.toFixed(2))

const billTable = (underLoad: Quantities, single: Quantities): string[] => {
  const bills = [billOf(underLoad, MILLION), billOf(single, MILLION)] as const
  const rows = bills[0].map(({ label, quantity, dollars }, index) => [
    label,
    quantity.toPrecision(3),
    dollars.toFixed(2),
    (bills[1][index]?.quantity ?? 0).toPrecision(3),
    (bills[1][index]?.dollars ?? 0).toFixed(2),
  ])
  const time = [underLoad, single].flatMap((quantities) => [
    quantities.gigabyteSeconds.toPrecision(3),
    lambdaTimeOf(quantities, MILLION).toFixed(2),
  ])
  return markdownTable(
    ['', 'under load', '$ per million', 'single', '$ per million'],
    [...rows, ['time of Lambda, GB-seconds (model)', ...time]],
  )
}

const functionTable = (usage: Counted['usage'], reconciled: Usage | undefined): string[] =>
  markdownTable(
    ['per debit under load', 'written', 'read', 'SQS', 'invocations', 'GB-seconds', 'log bytes'],
    [...usage, ...(reconciled ? [[RECONCILIATION, reconciled] as const] : [])]
      .filter(([, { written, read, sqs }]) => written + read + sqs > 0.005)
      .map(([name, one]) => [
        `\`${name}\``,
        rounded(one.written),
        rounded(one.read),
        rounded(one.sqs),
        rounded(one.invocations),
        one.gigabyteSeconds.toFixed(4),
        one.logged.toFixed(0),
      ]),
  )

const storageTable = ({ stored, debits }: LoadResult): string[] => {
  const rows = [...stored]
    .map(([entity, { count, bytes }]) => ({
      entity,
      items: count / debits,
      bytes: (bytes + count * ITEM_OVERHEAD_BYTES) / debits,
    }))
    .filter(({ bytes }) => bytes >= 1)
  const sum = rows.reduce((total, { bytes }) => total + bytes, 0)
  return [
    ...markdownTable(
      ['stored per debit', 'items', 'bytes'],
      [
        ...rows.map(({ entity, items, bytes }) => [entity, items.toPrecision(3), bytes.toFixed(0)]),
        ['sum', '', sum.toFixed(0)],
      ],
    ),
    '',
    `A million debits cost $ ${storageOf(sum * MILLION).toFixed(2)} a month, without index entries.`,
  ]
}

const cost: Measure = async ({ short }) => {
  const { underLoad, single } = loads(short)
  const [loaded, alone] = [await count(underLoad), await count(single)]
  const idle = idleMonth((await runLoad({ ...single, perSecond: 0 })).byFunction, NIGHTS)
  const idleDollars = idle.reduce((sum, [, dollars]) => sum + dollars, 0)
  const quantities = loaded.quantities
  return {
    title: 'Cost of a debit',
    explanation:
      `Counted calls of debits that complete, send four webhooks and are paid: ${underLoad.perSecond} a ` +
      `second of one provider (${loaded.result.debits} debits), and one each ${1 / single.perSecond} s.`,
    figures: figuresOf(quantities, alone.quantities, idleDollars),
    notes: [
      '',
      ...billTable(quantities, alone.quantities),
      '',
      ...functionTable(loaded.usage, loaded.reconciled),
      '',
      ...storageTable(loaded.result),
      '',
      ...markdownTable(
        ['a month without debits', '$'],
        idle.map(([label, dollars]) => [label, dollars.toFixed(2)]),
      ),
    ],
    json: {
      write_units: quantities.written,
      read_units: quantities.read,
      sqs_requests: quantities.sqs,
      invocations: quantities.invocations,
      scheduler_invocations: quantities.schedulerInvocations,
      usd_list: dollarsOf(billOf(quantities, MILLION)),
      usd_lambda: lambdaTimeOf(quantities, MILLION),
      usd_idle_month: idleDollars,
    },
  }
}

export const parts = { cost }
