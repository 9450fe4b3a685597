import type { ExceptionKind } from '../../../shared/domain/debits/exception.ts'
import type { Random } from '../engine/random.ts'
import { HOUR_MS, MINUTE_MS, midnightAfter, uuidOf } from '../invariants/time-and-money.ts'
import { isDone, resultOf, type Staff } from '../peers/operators.ts'
import { type Call, type Case, LIST_MAX, MANNERS, type Manner, newBulkCalls } from './bulk-calls.ts'
import { HTTP_BANKS } from './script.ts'

/** What operators do by docs/operators.md and docs/operations.md, as tables. */

const calls: Record<string, Call> = {
  refund: ['exception', 'refund', {}],
  'refund despite the note': ['exception', 'refund', { 'despite-note': 'true' }],
  note: ['exception', 'resolve', { note: 'Agreed by phone' }],
  reverse: ['debit', 'reverse', { reason: 'Declined' }],
  'reverse without a refund': ['debit', 'reverse', { reason: 'No debit', refund: 'none' }],
}

/** The acts in turn, or at once. An operator continues after a failed one that has a question mark. */
const ways: Record<ExceptionKind, { held: readonly string[]; notHeld: readonly string[] }> = {
  late_completion: {
    held: [
      'refund',
      'bank returns, note, bank repeats, refund?',
      'note, bank repeats, refund?, refund despite the note',
      'note, bank reports otherwise, refund?',
    ],
    notHeld: [
      'note',
      'note, bank repeats',
      'note & bank repeats at once, bank repeats, bank repeats',
    ],
  },
  contradiction: {
    held: ['note', 'note, bank repeats', 'note & bank repeats at once, bank repeats, bank repeats'],
    notHeld: [
      'reverse without a refund, note',
      'reverse?, reverse without a refund, note, bank repeats',
    ],
  },
  refund: { held: ['refund', 'refund', 'bank returns, note, refund?'], notHeld: ['note'] },
  reversal_request: { held: ['refund', 'refund', 'note, refund?'], notHeld: ['note'] },
  refused_report: {
    held: ['note, bank repeats', 'note, bank reports otherwise'],
    notHeld: ['note', 'note, bank repeats'],
  },
}

const paidByHand = (batch: string) => ({
  batch,
  'bank-reference': `H-${batch}`,
  reason: 'Paid by hand',
})

/** What operators do about each row of a list. */
const daily: readonly { list: Call; act: (row: Row, random: Random) => Call | undefined }[] = [
  {
    list: ['settlement', 'list', { limit: '100' }],
    act: ({ id: batch = '', status }, random) => {
      if (status === 'failed' && random.happens(0.7)) return ['settlement', 'retry', { batch }]
      // Its bank has confirmed a payout in progress by telephone.
      const isConfirmed = status === 'processing' && random.happens(0.3)
      if (status === 'failed' || isConfirmed) return ['settlement', 'complete', paidByHand(batch)]
      const isPaidNow = status !== 'completed' && random.happens(0.2)
      return isPaidNow ? ['settlement', 'process', { batch }] : undefined
    },
  },
  {
    list: ['dead-letters', 'list', {}],
    act: ({ queue = '', count }) =>
      Number(count) > 0 ? ['dead-letters', 'redrive', { queue }] : undefined,
  },
  {
    list: ['webhook', 'list', {}],
    act: ({ provider = '', health, failing_since: since }, random) => {
      if (health === 'healthy') return undefined
      if (health === 'disabled' && random.happens(0.7)) return ['webhook', 'enable', { provider }]
      return since && random.happens(0.5)
        ? ['delivery', 'recover', { provider, since }]
        : ['webhook', 'ping', { provider }]
    },
  },
]

type Row = Record<string, string>

/** The time of a few calls. */
const AT_ONCE_MS = 60

/** The acts of banks in `ways`. */
const newBankActs = (staff: Staff): Record<string, (one: Case) => unknown> => {
  const { api, books } = staff
  const { random } = staff.operators
  const report = async ({ reference, bank }: Case, raw: string, afterMax = 30 * MINUTE_MS) => {
    await api.sleep(random.between(0, afterMax))
    const caller = { kind: 'bank' as const, id: bank }
    await api.ask({ name: 'debit-callback', caller, path: { uuid: uuidOf(reference) }, raw })
  }

  return {
    'bank returns': ({ reference, bank, amount }) => {
      const uuid = uuidOf(reference)
      if (books.held(uuid) > 0) books.write('refund', bank, uuid, amount)
    },
    'bank repeats': (one) => report(one, one.report),
    'bank repeats at once': (one) =>
      Promise.all(Array.from({ length: 8 }, () => report(one, one.report, AT_ONCE_MS))),
    'bank reports otherwise': (one) => report(one, one.report.replace('"B-', '"C-')),
  }
}

/** Returns a function that follows a way, as one operator. */
const newFollower = (deps: Staff) => {
  const { api, operators } = deps
  const { random, operate } = operators
  const banks = newBankActs(deps)

  const perform = async (act: string, one: Case, operator: string): Promise<boolean> => {
    const [noun, verb, options] = calls[act] ?? []
    if (noun && verb) {
      const kind = act === 'note' ? { kind: one.kind } : {}
      const named = { reference: one.reference, ...kind, ...options }
      return isDone(await operate(noun, verb, named, { operator }))
    }
    await banks[act]?.(one)
    return true
  }

  /** Performs the parts of an act at once. */
  const performAll = async (act: string, one: Case, operator: string): Promise<boolean> => {
    const parts = act.replace('?', '').split(' & ')
    const done = await Promise.all(
      parts.map(async (part, n) => {
        // A report takes longer than the call of an operator.
        if (n < parts.length - 1) await api.sleep(random.between(0, 2 * AT_ONCE_MS))
        return perform(part, one, operator)
      }),
    )
    return done.every(Boolean)
  }

  return async (way: string, one: Case, operator: string, manner: Manner): Promise<void> => {
    const times = manner === 'twice' ? 2 : 1
    for (const [n, act] of way.split(', ').entries()) {
      // A note is recorded when the bank has returned the money; a refund may follow on another day.
      const isLater = n > 0 && manner === 'late' && act.startsWith('refund')
      if (isLater) await api.sleep(random.between(HOUR_MS, 20 * HOUR_MS))
      let isSuccess = false
      for (let time = 0; time < times; time += 1)
        isSuccess = (await performAll(act, one, operator)) || isSuccess
      if (!isSuccess && !act.endsWith('?')) return
    }
  }
}

export const newRunbooks = (deps: Staff) => {
  const { api, operators, books } = deps
  const { random, operate } = operators
  const follow = newFollower(deps)

  const isHeld = ({ reference }: Case) => books.held(uuidOf(reference)) > 0

  /** Some calls begin just before midnight. */
  const lateBy = (): number => {
    const toMidnight = midnightAfter(api.now()) - api.now() - random.between(0, 40)
    return random.happens(0.5) ? toMidnight : random.between(HOUR_MS, 20 * HOUR_MS)
  }

  /** Each open exception has an owner. */
  const owned = new Set<string>()

  const handle = async (one: Case): Promise<void> => {
    const { reference, kind } = one
    if (owned.has(reference)) return
    owned.add(reference)
    const manner = random.pick(MANNERS)
    if (manner === 'late') await api.sleep(lateBy())
    // An operator who does not know that the bank made the refund orders it again.
    const isUnknown = kind === 'refund' && books.isRefunded(uuidOf(reference))
    const retries = isUnknown && random.happens(0.5)
    const way = retries ? 'refund?' : random.pick(ways[kind][isHeld(one) ? 'held' : 'notHeld'])
    const names = manner === 'two at once' ? ['ama', 'abena'] : ['ama']
    await Promise.all(names.map((name) => follow(way, one, name, manner)))
    owned.delete(reference)
  }

  /** A bank paid a batch outside the service, as operators saw it before they recorded it. */
  const bookPayout = async ({ id: batch = '', paid }: Row): Promise<void> => {
    const { bank_reference: by } = resultOf(await operate('settlement', 'show', { batch })) ?? {}
    if (by === paidByHand(batch)['bank-reference'] && books.held(batch) === 0)
      books.write('payout', HTTP_BANKS[0] ?? '', batch, paid)
  }

  /** An operator believes that a bank never makes a refund, which it has made. */
  const failMadeRefunds = async (): Promise<void> => {
    const list = await operate('debit', 'list', { status: 'reversed' })
    for (const { reference = '' } of (resultOf(list) ?? []) as Row[]) {
      if (books.isRefunded(uuidOf(reference)) && random.happens(0.1))
        await operate('debit', 'fail-refund', { reference, reason: 'No reply' })
    }
  }

  const handleMany = newBulkCalls({ ...deps, owned, isHeld })

  return async (): Promise<void> => {
    for (const { list, act } of daily) {
      for (const row of (resultOf(await operate(...list)) ?? []) as Row[]) {
        const call = act(row, random)
        if (call) await operate(...call)
        if (call?.[1] === 'complete') await bookPayout(row)
      }
    }
    await failMadeRefunds()
    const list = await operate('exception', 'list', { status: 'open', limit: String(LIST_MAX) })
    const open = (resultOf(list) ?? []) as Case[]
    await Promise.all([handleMany(open), ...open.map(handle)])
  }
}
