import type { FullResult, NounName, OptionsOf, VerbName } from '../../../shared/operator/results.ts'
import { type Field, formOf, labelOf, sentence } from '../catalogue-fields.ts'
import { type CallOptions, mayUse, settings, submit } from '../client.ts'
import { quoted } from '../curl.ts'
import { pendingCall } from '../pending.ts'
import { linkTo } from '../place.ts'
import { settingOf } from '../settings-of.ts'
import { Action } from './action.tsx'
import { type CallRow, callRow } from './call-rows.tsx'

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
  return [command, noun, verb, ...words, ...(stage ? [`--stage ${stage}`] : port)].join(' ')
}

type CatalogueCallProps<T> = CallRow<T> & {
  of: readonly [noun: string, verb: string, options?: Partial<CallOptions>]
  /** The view of the object, whose settings the form changes. */
  current?: object | undefined
}

/** A button that runs a verb with the form of the catalogue. Hidden if the operator may not use the noun. */
export function CatalogueCall<T>(props: CatalogueCallProps<T>) {
  const { of, only, values = {}, texts = {}, current, about, confirmation, ...action } = props
  const [noun, verb, options = {}] = of
  const { label = labelOf(verb) } = action
  if (!mayUse(noun as NounName)) return null
  // Settings can have several requests, each with its fields.
  const isSetting = verb === 'update' || verb === 'set'
  if (!isSetting && pendingCall(noun, verb, options)) {
    return <a href={linkTo('approvals', '', { status: 'pending' })}>{label}: requested</a>
  }
  const form = formOf(noun, verb)
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
      label={label}
      about={
        <>
          {(typeof about === 'function' ? about(options) : about) ??
            `${sentence(form?.summary ?? '')}.`}
          {form?.approval && ` A stage with approvals asks a second operator ${form.approval}.`}
        </>
      }
      confirmation={confirmation && ((entered) => confirmation({ ...options, ...entered }))}
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

/** A button that runs a verb of the catalogue. */
export const Call = <N extends NounName, V extends VerbName<N>>({
  of,
  ...props
}: CallProps<N, V>) => (
  <CatalogueCall of={of} {...callRow<FullResult<N, V>>(of[0], of[1])} {...props} />
)
