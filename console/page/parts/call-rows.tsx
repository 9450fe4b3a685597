import type { ComponentChildren } from 'preact'
import type { FullResult, NounName, VerbName } from '../../../shared/operator/results.ts'
import type { PingResult } from '../../../shared/views/delivery.ts'
import type { SettlementRunResult } from '../../../shared/views/operator/settlement.ts'
import type { Field } from '../catalogue-fields.ts'
import type { CallOptions } from '../client.ts'
import { refundPayer } from '../refund-payer.ts'
import { useOperator } from '../use-operator.ts'
import type { ActionProps } from './action.tsx'
import { Data, Payment } from './screen.tsx'

/** The buttons of the calls that the screens offer. */

export type CallRow<T> = Pick<
  ActionProps<T>,
  'movesMoney' | 'isAsked' | 'kind' | 'done' | 'onDone'
> & {
  /** The effect, and the amount and the parties, by the options of the call. */
  about?: string | ((options: Partial<CallOptions>) => string)
  confirmation?: (options: Partial<CallOptions>) => ComponentChildren
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

type DebitPaymentProps = { reference: string; isRefund: boolean }

/** The amount and the parties of a debit, or of its refund. */
export const DebitPayment = ({ reference, isRefund }: DebitPaymentProps) => (
  <Data of={useOperator('debit', 'show', { reference })}>
    {(shown) => {
      const { amount, provider, bank, phone_number } = shown
      const customer = `customer ${phone_number} at ${bank}`
      const parties = isRefund
        ? { from: refundPayer(shown), to: customer }
        : { from: customer, to: provider }
      return <Payment amount={amount} {...parties} />
    }}
  </Data>
)

const outcome = ({ reference = '' }) => <DebitPayment reference={reference} isRefund={false} />
const refund = ({ reference = '' }) => <DebitPayment reference={reference} isRefund />

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
  'debit complete': { confirmation: outcome },
  'debit fail': { confirmation: outcome },
  'debit reverse': {
    ...danger,
    confirmation: refund,
    done: 'The debit is reversed. Its refund follows.',
  },
  'delivery recover': {
    about: 'Sends all undelivered events since a time again, at most 14 days ago.',
    done: ({ deliveries }) => `${deliveries} events are sent again.`,
  },
  'delivery redeliver': {
    about: 'Sends the event to the provider’s webhook again.',
    done: 'The event is sent again.',
  },
  'exception refund': {
    only: ['reason', 'despite-note'],
    confirmation: refund,
    done: 'The refund is requested.',
  },
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
  'webhook ping': {
    about: ({ provider }) => `Sends a signed ping to ${provider}. A ping concerns no debit.`,
    done: pingText,
  },
  'webhook rotate-secret': { label: 'Rotate the secret', done: 'The webhook has a new secret.' },
}

export function callRow<T>(noun: string, verb: string): CallRow<T> {
  return (rows as Record<string, CallRow<T>>)[`${noun} ${verb}`] ?? {}
}
