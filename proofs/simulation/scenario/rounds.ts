import type { ExceptionKind } from '../../../shared/domain/debits/exception.ts'
import type { BatchStatus } from '../../../shared/domain/settlement/batch.ts'
import { dayOf } from '../../../shared/domain/time.ts'
import type { Random } from '../engine/random.ts'
import type { Api } from '../peers/api.ts'
import { type Operators, resultOf } from '../peers/operators.ts'
import { simulatedProviders } from './fixtures.ts'
import type { Scenario } from './scenario.ts'
import { bankNames, type SettingChange } from './script.ts'

/** The work of operators: changes of settings, retries and resolutions. */

type Deps = { api: Api; operators: Operators; random: Random }

/** The last half hour, without faults and other work. */
const AUDIT_MS = 1_800_000

type Batch = { id: string; status: BatchStatus }
type Exception = { reference: string; kind: ExceptionKind }

/** Whether an operator may refund the customer. */
const IS_REFUNDABLE: Record<ExceptionKind, boolean> = {
  late_completion: true,
  refused_report: false,
  contradiction: false,
  refund: true,
}

/** Records a remittance; that of an afternoon is wrong. The reconciliations compare the cash. */
const remit = async (operators: Operators, at: number): Promise<void> => {
  const reference = `REMITTANCE-${at}`
  const date = dayOf(new Date(at))
  const remittance = { bank: bankNames[0], amount: '750.00', reference, date }
  await operators.operate('funding', 'record', remittance)
  if (new Date(at).getUTCHours() < 12) return
  const correction = { reference, amount: '75.00', reason: 'Typing error' }
  await operators.operate('funding', 'correct', correction)
}

const resolve = async (
  { reference, kind }: Exception,
  { operators, random }: Pick<Deps, 'operators' | 'random'>,
): Promise<unknown> => {
  const isRefundable = IS_REFUNDABLE[kind]
  if (isRefundable && random.happens(0.8)) {
    return operators.operate('exception', 'refund', { reference })
  }
  if (random.happens(0.3)) return undefined
  await operators.operate('exception', 'resolve', { reference, kind, note: 'Agreed by phone' })
  // The note has ended the case.
  return isRefundable && operators.operate('exception', 'refund', { reference })
}

export const newRounds = ({ api, operators, random }: Deps) => {
  const retryPayouts = async (): Promise<void> => {
    for (const { id: provider } of simulatedProviders) {
      const list = await operators.operate('settlement', 'list', { provider, limit: '100' })
      for (const { id: batch, status } of (resultOf(list) ?? []) as Batch[]) {
        const verb = status === 'failed' ? 'retry' : 'process'
        const isOpen = status !== 'completed' && random.happens(0.2)
        if (status === 'failed' || isOpen) await operators.operate('settlement', verb, { batch })
      }
    }
  }

  const round = async (at: number): Promise<void> => {
    await remit(operators, at)
    await retryPayouts()
    const list = await operators.operate('exception', 'list', { status: 'open', limit: '100' })
    for (const exception of (resultOf(list) ?? []) as Exception[])
      await resolve(exception, { operators, random })
  }

  /** Changes follow one another, so that each setting is known between two changes. */
  const changeSettings = async (changes: readonly SettingChange[]): Promise<void> => {
    for (const { at, noun, verb, options } of changes.toSorted((a, b) => a.at - b.at)) {
      await api.until(at)
      await operators.operate(noun, verb, options)
    }
  }

  /** Each provider reads its lists, then another one tries to read its batches. */
  const audit = async (): Promise<void> => {
    const query = { per_page: '100' }
    for (const [index, { id }] of simulatedProviders.entries()) {
      const caller = { kind: 'provider' as const, id }
      const other = simulatedProviders[(index + 1) % simulatedProviders.length] ?? { id }
      await api.ask({ name: 'list-debit-requests', caller, query })
      await api.ask({ name: 'list-events', caller, query: { per_page: '20' } })
      const batches = await api.ask({ name: 'list-settlements', caller, query })
      const { data = [] } = (batches?.reply?.body ?? {}) as { data?: Batch[] }
      for (const { id: batch } of data.slice(0, 2)) {
        for (const reader of [id, other.id]) {
          const path = { id: batch }
          await api.ask({ name: 'get-settlement', caller: { ...caller, id: reader }, path })
        }
      }
    }
    const listed = { phone_number: '+233241234567', status_filter: 'completed' }
    for (const id of bankNames) {
      await api.ask({
        name: 'list-debit-transactions',
        caller: { kind: 'bank', id },
        query: listed,
      })
    }
  }

  return {
    start: ({ changes, rounds, endAt }: Scenario): void => {
      void changeSettings(changes)
      void api.until(endAt - AUDIT_MS).then(audit)
      for (const at of rounds) void api.until(at).then(() => round(at))
    },
  }
}
