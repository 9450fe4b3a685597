import type { ComponentChildren, TargetedEvent } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { NounName, OptionsOf, VerbName } from '../../../shared/operator/results.ts'
import type { ApprovalResult } from '../../../shared/views/operator/approval.ts'
import type { ConsoleResult } from '../../server/backend.ts'
import { type CallOptions, isSandbox, mayUse, settings, submit } from '../client.ts'
import { type Choices, Options } from './filters.tsx'
import { Failure } from './screen.tsx'
import { showToast } from './toasts.tsx'
import { Code } from './values.tsx'

export type Field<Name extends string = string> = {
  name: Name
  label: string
  value?: string
  /** Without options the field is text. */
  options?: Choices
  type?: 'date'
  isOptional?: boolean
}

const Input = ({ field }: { field: Field }) => {
  const { name, label, value = '', options, type, isOptional = false } = field
  const id = useId()
  const input = { id, name, required: !isOptional, defaultValue: value }
  return (
    <div class="field">
      <label htmlFor={id}>{isOptional ? `${label} (optional)` : label}</label>
      {options && (
        <select {...input}>
          <Options of={options} selected={value} />
        </select>
      )}
      {!options && (type === 'date' ? <input {...input} type="date" /> : <input {...input} />)}
    </div>
  )
}

/** Returns the filled fields of a form. */
const valuesOf = (form: HTMLFormElement): CallOptions =>
  Object.fromEntries(
    [...new FormData(form)].flatMap(([name, value]) =>
      typeof value === 'string' && value.trim() !== '' ? [[name, value.trim()]] : [],
    ),
  )

/** The result of a call that ran at once, not the request of a call that waits for an approval. */
type Done<T> = Exclude<T, { approval: ApprovalResult }>

export type ActionProps<T, Name extends string = string> = {
  label: string
  /** The effect, in the dialog. */
  about?: ComponentChildren
  fields?: readonly Field<Name>[]
  /** On a stage the dialog asks for a confirmation and names the stage. */
  movesMoney?: boolean
  /** The amount and the parties, in a dialog that a sandbox shows as well. */
  confirmation?: ComponentChildren
  kind?: 'primary' | 'danger'
  isSmall?: boolean
  /** The message after success. */
  done: string | ((result: Done<T>) => string)
  onDone?: ((result: Done<T>) => void) | undefined
}

type PerformedProps<T> = ActionProps<T> & {
  perform: (values: CallOptions) => Promise<T>
  /** The same call in a shell. */
  command?: ((values: CallOptions) => string) | undefined
}

type DialogProps = Omit<PerformedProps<never>, 'perform' | 'done' | 'onDone'> & {
  isRunning: boolean
  error: Error | undefined
  onClose: () => void
  onSubmit: (values: CallOptions) => void
}

/** A modal dialog, which Escape closes. */
const Dialog = ({ label, isRunning, error, onClose, onSubmit, ...props }: DialogProps) => {
  const { about, fields = [], movesMoney = false, confirmation, command } = props
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => element.current?.showModal(), [])
  const initial = Object.fromEntries(fields.map(({ name, value = '' }) => [name, value]))
  const [values, setValues] = useState<CallOptions>(initial)
  const shell = command?.(values)
  const submit = (event: TargetedEvent<HTMLFormElement>): void => {
    event.preventDefault()
    onSubmit(valuesOf(event.currentTarget))
  }
  return (
    <dialog ref={element} aria-labelledby={id} onClose={onClose}>
      <div class="fields">
        <h2 id={id}>{label}</h2>
        {about && <p>{about}</p>}
        {confirmation}
        {movesMoney && !isSandbox() && (
          <p class="notice warn">
            This call moves money on the stage <strong>{settings.value?.stage}</strong>.
          </p>
        )}
        <form onSubmit={submit} onInput={(event) => setValues(valuesOf(event.currentTarget))}>
          {fields.map((field) => (
            <Input key={field.name} field={field} />
          ))}
          {shell && <Code label="The same call in a shell" text={shell} />}
          {error && <Failure error={error} />}
          <div class="row">
            <button type="button" onClick={onClose}>
              Cancel
            </button>
            <button type="submit" class="primary" disabled={isRunning}>
              {isRunning ? 'Running…' : label}
            </button>
          </div>
        </form>
      </div>
    </dialog>
  )
}

/** A button that acts at once, or after a dialog if it has fields or a stage is behind the console. */
export function Action<T>({ perform, onDone, done, ...props }: PerformedProps<T>) {
  const { label, fields = [], confirmation, kind = '', isSmall } = props
  const [isOpen, setOpen] = useState(false)
  const [isRunning, setRunning] = useState(false)
  const [error, setError] = useState<Error>()
  const hasDialog = fields.length > 0 || confirmation !== undefined || !isSandbox()

  const run = async (options: CallOptions): Promise<void> => {
    setRunning(true)
    setError(undefined)
    try {
      const result = await perform(options)
      setOpen(false)
      const request = approvalIn(result)
      if (request) return showToast(request)
      showToast(typeof done === 'string' ? done : done(result as Done<T>))
      onDone?.(result as Done<T>)
    } catch (thrown) {
      if (hasDialog) setError(thrown as Error)
      else showToast((thrown as Error).message, { isFailure: true })
    } finally {
      setRunning(false)
    }
  }
  const open = (): void => {
    setError(undefined)
    setOpen(true)
  }
  const close = (): void => setOpen(false)
  return (
    <>
      <button
        type="button"
        class={`${kind} ${isSmall ? 'small' : ''}`}
        disabled={isRunning}
        onClick={() => (hasDialog ? open() : void run({}))}
      >
        {label}
      </button>
      {isOpen && (
        <Dialog {...props} isRunning={isRunning} error={error} onClose={close} onSubmit={run} />
      )}
    </>
  )
}

/** Returns the message for a call that a second operator must approve. */
const approvalIn = (result: unknown): string | undefined => {
  const { approval } = (result ?? {}) as { approval?: Partial<ApprovalResult> }
  return approval?.id && `Request ${approval.id} waits for a second operator. See Approvals.`
}

const quoted = (value: string): string =>
  /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`

const commandOf = (noun: string, verb: string, options: Partial<CallOptions>): string => {
  const words = Object.entries(options).flatMap(([name, value]) =>
    value ? [`--${name} ${quoted(value)}`] : [],
  )
  const stage = settings.value?.stage
  return ['operator', noun, verb, ...words, ...(stage ? [`--stage ${stage}`] : [])].join(' ')
}

type OperatorActionProps<N extends NounName, V extends VerbName<N>> = ActionProps<
  ConsoleResult<N, V>,
  keyof OptionsOf<N, V> & string
> & { call: readonly [noun: N, verb: V, options?: Partial<OptionsOf<N, V>>] }

/** A button that runs a verb. Hidden if the operator may not use the noun. */
export function OperatorAction<N extends NounName, V extends VerbName<N>>({
  call: [noun, verb, options],
  ...props
}: OperatorActionProps<N, V>) {
  if (!mayUse(noun)) return null
  return (
    <Action<ConsoleResult<N, V>>
      {...props}
      perform={(values) => submit(noun, verb, { ...options, ...values })}
      command={(values) => commandOf(noun, verb, { ...options, ...values })}
    />
  )
}
