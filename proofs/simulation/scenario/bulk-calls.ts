import type { ExceptionKind } from '../../../shared/domain/debits/exception.ts'
import { dayOf } from '../invariants/time-and-money.ts'
import type { Staff } from '../peers/operators.ts'

/** Calls of operators about many exceptions at once. */

export type Case = Record<'reference' | 'bank' | 'amount' | 'report' | 'at', string> & {
  kind: ExceptionKind
}

export type Call = readonly [noun: string, verb: string, options: Record<string, string>]

const refundMany: Call = ['exception', 'refund', { reason: 'Outage' }]
const noteMany: Call = ['exception', 'resolve', { note: 'Agreed for all' }]

/** The calls about many exceptions of a kind whose banks hold the money, or do not. */
const bulkCalls: Record<ExceptionKind, { held?: Call; notHeld?: Call }> = {
  late_completion: { held: refundMany, notHeld: noteMany },
  contradiction: { held: noteMany },
  refund: { held: refundMany, notHeld: noteMany },
  reversal_request: { held: refundMany, notHeld: noteMany },
  refused_report: { held: noteMany, notHeld: noteMany },
}

/** How operators share an exception: one, one who repeats each act, or two at once. */
export const MANNERS = ['alone', 'alone', 'alone', 'late', 'twice', 'two at once'] as const
export type Manner = (typeof MANNERS)[number]

const BULK_SHARE = 0.4

export const LIST_MAX = 100

type BulkDeps = Pick<Staff, 'api' | 'operators'> & {
  /** The debits whose exceptions an operator handles now. */
  owned: Set<string>
  isHeld: (one: Case) => boolean
}

export const newBulkCalls = ({ api, operators, owned, isHeld }: BulkDeps) => {
  const callAbout = (one: Case) => bulkCalls[one.kind][isHeld(one) ? 'held' : 'notHeld']

  /** Selects the exceptions of the past days if the call is right for all of them, else by a file. */
  const selectionOf = async (verb: string, group: readonly Case[], open: readonly Case[]) => {
    const [{ kind, bank } = {} as Case] = group
    const days = group.map(({ at }) => at.slice(0, 10)).sort()
    const [from = '', to = ''] = [days[0], days.at(-1)]
    const isSelected = (one: Case): boolean => {
      const day = one.at.slice(0, 10)
      return one.kind === kind && one.bank === bank && from <= day && day <= to
    }
    const isRight = open.filter(isSelected).every((one) => group.includes(one))
    if (isRight && open.length < LIST_MAX && to < dayOf(api.now()) && operators.random.happens(0.8))
      return { kind, bank, from, to }
    const references = new Set(group.map(({ reference }) => reference))
    const file = await operators.upload('exception', [...references])
    return file && { ...file, ...(verb === 'resolve' ? { kind } : {}) }
  }

  /** Decides on many exceptions at once: by one operator, twice, or by two at once. */
  return async (open: readonly Case[]): Promise<void> => {
    const free = open.filter((one) => !owned.has(one.reference) && callAbout(one))
    const groups = Map.groupBy(free, (one) => `${one.kind} ${one.bank} ${callAbout(one)?.[1]}`)
    const group = [...groups.values()].toSorted((a, b) => b.length - a.length)[0] ?? []
    const [first] = group
    const [noun = '', verb = '', options = {}] = (first && callAbout(first)) ?? []
    if (group.length < 2 || !operators.random.happens(BULK_SHARE)) return
    for (const { reference } of group) owned.add(reference)
    const selection = await selectionOf(verb, group, open)
    const manner = operators.random.pick(MANNERS)
    const names = manner === 'two at once' ? ['ama', 'abena'] : ['ama']
    for (let time = 0; selection && time < (manner === 'twice' ? 2 : 1); time += 1) {
      await Promise.all(
        names.map((operator) =>
          operators.operate(noun, verb, { ...selection, ...options }, { operator }),
        ),
      )
    }
    for (const { reference } of group) owned.delete(reference)
  }
}
