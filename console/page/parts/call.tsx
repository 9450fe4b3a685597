import type { ComponentChildren } from 'preact'
import type { FullResult, NounName, OptionsOf, VerbName } from '../../../shared/operator/results.ts'
import type { PingResult } from '../../../shared/views/delivery.ts'
import type { SettlementRunResult } from '../../../shared/views/operator/settlement.ts'
import { type Field, formOf, labelOf, sentence } from '../catalogue-fields.ts'
import { actingAs, type CallOptions, mayUse, settings, submit } from '../client.ts'
import { quoted } from '../curl.ts'
import { pendingCall } from '../matters.ts'
import { moneyOf } from '../money.ts'
import { linkTo } from '../place.ts'
import { settingOf } from '../settings-of.ts'
import { Action, type CommonProps } from './action.tsx'
import { MoneyTerms } from './money-terms.tsx'
import { showResult } from './result.tsx'

/** The buttons of the calls that the screens offer. */

type CallRow<T> = CommonProps<T> & {
  /** The effect, and the amount and the parties, by the options of the call. */
  about?: string | ((options: Partial<CallOptions>) => string)
  confirmation?: (options: Partial<CallOptions>) => ComponentChildren
  /** By default the verb. */
  label?: string
  /** The options that the form has; by default all that the call does not have. */
  only?: readonly string[]
  /** The first values of fields. */
  values?: Partial<CallOptions>
  /** A dialog shows the result. */
  showsResult?: boolean
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
  'approval grant': { showsResult: true },
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
  'customer accesses': { showsResult: true },
  'customer erase': { ...danger, showsResult: true },
  'customer export': { showsResult: true },
  'customer link': {
    ...primary,
    label: 'Link an account',
    done: ({ customer, bank }) => `The account of ${customer} at ${bank} is set.`,
  },
  'customer unlink': { ...danger, label: 'Remove', done: 'The account is removed.' },
  'debit fail-refund': {
    label: 'Record failure',
    done: 'The refund has failed, and its exception is open.',
  },
  'debit reverse': {
    ...danger,
    done: (_, options) => {
      const isRefunded = moneyOf('debit', 'reverse', options) === 'to customer'
      return `The debit is reversed. ${isRefunded ? 'Its refund follows.' : 'The customer gets no refund.'}`
    },
  },
  'delivery recover': {
    about: 'Sends all undelivered events since a time again, at most 14 days ago.',
    done: ({ deliveries, is_at_least }) =>
      `${is_at_least ? 'At least ' : ''}${deliveries} events are sent again.`,
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
  'settlement fail': { label: 'Record failure', done: 'The payout has failed.' },
  'settlement process': { label: 'Pay now', done: 'The payout is sent.' },
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

/** The command uses this port by default. */
const SANDBOX_PORT = '3000'

/** A shell takes such a word without quotes. */
const PLAIN = /^[\w@%+=:,./-]+$/

const commandOf = (noun: string, verb: string, options: Partial<CallOptions>): string => {
  const words = Object.entries(options).flatMap(([name, value]) => {
    // The command reads a secret from its standard input.
    const isSecret = formOf(noun, verb)?.fields.some(
      (field) => field.name === name && field.type === 'password',
    )
    const word = PLAIN.test(value ?? '') ? value : quoted(value ?? '')
    return value ? [`--${name} ${isSecret ? '-' : word}`] : []
  })
  const { stage, command } = settings.value ?? {}
  const port = location.port === SANDBOX_PORT ? [] : [`--port ${location.port}`]
  const operator = !stage && actingAs.value ? [`OPERATOR_NAME=${actingAs.value}`] : []
  const target = stage ? [`--stage ${stage}`] : port
  return [...operator, command, noun, verb, ...words, ...target].join(' ')
}

type CatalogueCallProps<T> = CallRow<T> & {
  of: readonly [noun: string, verb: string, options?: Partial<CallOptions>]
  /** The view of the object, whose settings the form changes. */
  current?: object | undefined
}

/** A button that runs a verb with the form of the catalogue. Hidden if the operator may not use the noun. */
export function CatalogueCall<T>(props: CatalogueCallProps<T>) {
  const {
    of,
    only,
    values = {},
    texts = {},
    current,
    about,
    confirmation,
    showsResult,
    ...action
  } = props
  const [noun, verb, options = {}] = of
  const { label = labelOf(verb) } = action
  if (!mayUse(noun as NounName)) return null
  // Settings can have several requests, each with its fields.
  const isSetting = verb === 'update' || verb === 'set'
  if (!isSetting && pendingCall(noun, verb, options)) {
    return <a href={linkTo('approvals', '', { status: 'pending' })}>{label}: requested</a>
  }
  const form = formOf(noun, verb)
  const terms = (all: Partial<CallOptions>) => <MoneyTerms {...{ noun, verb, options: all }} />
  const confirm = confirmation ?? (moneyOf(noun, verb, options) && terms)
  // An empty field leaves its setting unchanged.
  const fields = (form?.fields ?? [])
    .filter(({ name }) => options[name] === undefined && (only?.includes(name) ?? true))
    .map((field) => {
      const now = settingOf(current, field.name)
      const meaning = `${now === undefined ? '' : `Now ${now}. `}${sentence(field.meaning)}`
      return { ...field, value: values[field.name], meaning, ...texts[field.name] }
    })
  return (
    <Action<T>
      movesMoney={form?.effect === 'money'}
      {...action}
      {...(showsResult && { onDone: (result: unknown) => showResult(`${noun} ${verb}`, result) })}
      label={label}
      about={
        <>
          {(typeof about === 'function' ? about(options) : about) ??
            `${sentence(form?.summary ?? '')}.`}
          {form?.approval && ` A stage with approvals asks a second operator ${form.approval}.`}
        </>
      }
      confirmation={confirm && ((entered) => confirm({ ...options, ...entered }))}
      fields={fields}
      perform={(entered) => submit<T>(noun, verb, { ...options, ...entered })}
      command={(entered) => commandOf(noun, verb, { ...options, ...entered })}
    />
  )
}

type OptionName<N extends NounName, V extends VerbName<N>> = keyof OptionsOf<N, V> & string

type CallProps<N extends NounName, V extends VerbName<N>> = CatalogueCallProps<FullResult<N, V>> & {
  of: readonly [noun: N, verb: V, options?: Partial<OptionsOf<N, V>>]
  only?: readonly OptionName<N, V>[]
  values?: Partial<Record<OptionName<N, V>, string>>
  texts?: Partial<Record<OptionName<N, V>, Partial<Field>>>
}

/** A button of a row. */
export function Call<N extends NounName, V extends VerbName<N>>(props: CallProps<N, V>) {
  const [noun, verb] = props.of
  const row = (rows as Record<string, CallRow<FullResult<N, V>>>)[`${noun} ${verb}`]
  return <CatalogueCall {...row} {...props} />
}
