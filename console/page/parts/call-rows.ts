import type { FullResult, NounName, VerbName } from '../../../shared/operator/results.ts'
import type { PingResult } from '../../../shared/views/delivery.ts'
import type { SettlementRunResult } from '../../../shared/views/operator/settlement.ts'
import type { Field } from '../catalogue-fields.ts'
import type { CallOptions } from '../client.ts'
import type { ActionProps } from './action.tsx'

/** The buttons of the calls that the screens offer. */

export type CallRow<T> = Omit<ActionProps<T>, 'fields' | 'label'> & {
  /** By default the verb. */
  label?: string
  /** The options that the form has; by default all that the call does not have. */
  only?: readonly string[]
  /** The first values of fields. */
  values?: Partial<CallOptions>
  /** Texts and choices that differ from those of the catalogue. */
  texts?: Partial<Record<string, Partial<Field>>>
}

type CallName = { [N in NounName]: `${N} ${VerbName<N>}` }[NounName]
type ResultOfCall<K> = K extends `${infer N extends NounName} ${infer V}`
  ? FullResult<N, V & VerbName<N>>
  : never

const pingText = ({ delivered, response_code, cause, duration_ms }: PingResult): string =>
  delivered
    ? `The receiver accepted the ping: HTTP ${response_code} after ${duration_ms} ms.`
    : `The receiver did not accept the ping: ${response_code ? `HTTP ${response_code}` : cause}.`

const runText = ({ built, paid, unpaid, in_work }: SettlementRunResult): string => {
  const reasons = unpaid.map(
    ({ batch, message, details }) =>
      `${batch} is not paid: ${typeof details === 'string' ? details : message}`,
  )
  const counts = `Built: ${built.length}. Paid: ${paid.length}. In progress: ${in_work.length}.`
  return [counts, ...reasons].join(' ')
}

const danger = { kind: 'danger' } as const
const primary = { kind: 'primary' } as const

/** By noun and verb. A screen adds what depends on its object. */
const rows: { [K in CallName]?: CallRow<ResultOfCall<K>> } = {
  'approval deny': { ...danger, done: 'The request is denied.' },
  'bank behave': { label: 'Simulate', done: ({ identifier }) => `${identifier} behaves so.` },
  'bank create': { ...primary, label: 'New bank', done: 'The bank is created.' },
  'calendar add': { label: 'Add a holiday', done: 'The holiday is added.' },
  'calendar remove': { ...danger, label: 'Remove', done: 'The holiday is removed.' },
  'credential issue': {
    label: 'Issue a credential',
    only: ['expires-on'],
    done: 'The credential is issued.',
  },
  'credential revoke': { ...danger, only: [], done: 'The credential is revoked.' },
  'customer link': {
    ...primary,
    label: 'Link an account',
    done: ({ customer, bank }) => `The account of ${customer} at ${bank} is set.`,
  },
  'customer unlink': { ...danger, label: 'Remove', done: 'The account is removed.' },
  'debit reverse': { ...danger, done: 'The debit is reversed. Its refund follows.' },
  'delivery recover': {
    about: 'Sends all undelivered events since a time again, at most 14 days ago.',
    done: ({ deliveries }) => `${deliveries} events are sent again.`,
  },
  'delivery redeliver': {
    about: 'Sends the event to the provider’s webhook again.',
    done: 'The event is sent again.',
  },
  'exception refund': { only: ['reason', 'despite-note'], done: 'The refund is requested.' },
  'funding record': {
    label: 'Record a remittance',
    about:
      'Records cash that a bank has sent to the service. A repeated reference changes nothing.',
    done: ({ amount, bank }) => `${amount} GHS of ${bank} are recorded.`,
  },
  'limit set': { label: 'Set a limit', done: 'The limit is set.' },
  'provider create': { ...primary, label: 'New provider', done: 'The provider is created.' },
  'settlement complete': { label: 'Record payout', done: 'The payout is recorded.' },
  'settlement retry': {
    label: 'Retry payout',
    about: 'Pays the batch again under a new uuid. Correct the account first.',
    done: 'The payout is sent again.',
  },
  'settlement run': {
    ...primary,
    label: 'Run a day',
    only: ['date', 'provider'],
    movesMoney: true,
    done: runText,
  },
  'webhook enable': {
    about: 'Ends the failing state. New events are delivered again.',
    done: 'The webhook is enabled.',
  },
  'webhook ping': { done: pingText },
  'webhook rotate-secret': { label: 'Rotate the secret', done: 'The webhook has a new secret.' },
}

export const callRow = <T>(noun: string, verb: string): CallRow<T> =>
  (rows as Record<string, CallRow<T>>)[`${noun} ${verb}`] ?? {}
