import type { ComponentChildren, TargetedEvent } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { NounName, OptionsOf, VerbName } from '../../../shared/operator/results.ts'
import type { ApprovalResult } from '../../../shared/views/operator/approval.ts'
import type { ConsoleResult } from '../../server/backend.ts'
import { catalogueFields, sentence } from '../catalogue-fields.ts'
import { type CallOptions, isSandbox, mayUse, settings, submit } from '../client.ts'
import { addPending, pendingCall } from '../pending.ts'
import { linkTo } from '../place.ts'
import { Copy } from './copy.tsx'
import { contentsOf, type Field, Input, valuesOf } from './field.tsx'
import { showSecrets } from './result.tsx'
import { Failure } from './screen.tsx'
import { showToast } from './toasts.tsx'
import { Code } from './values.tsx'

/** The result of a call that ran at once, not the request of a call that waits for an approval. */
type Done<T> = Exclude<T, { approval: ApprovalResult }>

export type ActionProps<T> = {
  label: string
  /** The effect, in the dialog. */
  about?: ComponentChildren
  fields?: readonly Field[]
  /** On a stage the dialog asks for a confirmation and names the stage. */
  movesMoney?: boolean
  /** The amount and the parties by the values of the form, in a dialog that a sandbox shows as well. */
  confirmation?: ((values: CallOptions) => ComponentChildren) | undefined
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
    void contentsOf(event.currentTarget).then(onSubmit)
  }
  return (
    <dialog ref={element} aria-labelledby={id} onClose={onClose}>
      <div class="fields">
        <h2 id={id}>{label}</h2>
        {about && <p>{about}</p>}
        {confirmation?.(values)}
        {movesMoney && !isSandbox() && (
          <p class="notice warn">
            This call moves money on the stage <strong>{settings.value?.stage}</strong>.
          </p>
        )}
        <form onSubmit={submit} onInput={(event) => setValues(valuesOf(event.currentTarget))}>
          {fields.map((field) => (
            <Input key={field.name} field={field} />
          ))}
          {shell && (
            <div>
              <div class="head">
                <small>The same call in a shell</small>
                <Copy label="Copy command" text={shell} />
              </div>
              <Code label="The same call in a shell" text={shell} />
            </div>
          )}
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
      if (request) {
        addPending(request)
        return showToast(`Request ${request.id} waits for a second operator. See Approvals.`)
      }
      showSecrets(result)
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

/** Returns the request of a call that a second operator must approve. */
const approvalIn = (result: unknown): ApprovalResult | undefined => {
  const { approval } = (result ?? {}) as { approval?: ApprovalResult }
  return approval?.id ? approval : undefined
}

const quoted = (value: string): string =>
  /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`

/** The command uses this port by default. */
const SANDBOX_PORT = '3000'

const commandOf = (noun: string, verb: string, options: Partial<CallOptions>): string => {
  const fields = settings.value?.forms[noun]?.[verb]?.fields ?? []
  const words = Object.entries(options).flatMap(([name, value]) => {
    // The command reads a secret from its standard input.
    const isSecret = fields.some((field) => field.name === name && field.type === 'password')
    return value ? [`--${name} ${isSecret ? '-' : quoted(value)}`] : []
  })
  const { stage, command } = settings.value ?? {}
  const port = location.port === SANDBOX_PORT ? [] : [`--port ${location.port}`]
  return [command, noun, verb, ...words, ...(stage ? [`--stage ${stage}`] : port)].join(' ')
}

type CatalogueActionProps<T> = Omit<ActionProps<T>, 'fields'> & {
  call: readonly [noun: string, verb: string, options?: Partial<CallOptions>]
  /** The options that the form has; by default all that the call does not have. */
  only?: readonly string[]
  /** The first values of fields. */
  values?: Partial<CallOptions>
  /** Texts and choices that differ from those of the catalogue. */
  texts?: Partial<Record<string, Partial<Field>>>
  /** The view of the object, whose settings the form changes. */
  current?: object | undefined
}

/** A button that runs a verb with the form of the catalogue. Hidden if the operator may not use the noun. */
export function CatalogueAction<T>(props: CatalogueActionProps<T>) {
  const { call, only, values, texts = {}, current, about, ...action } = props
  const [noun, verb, options = {}] = call
  if (!mayUse(noun as NounName)) return null
  // Settings can have several requests, each with its fields.
  const isSetting = verb === 'update' || verb === 'set'
  if (!isSetting && pendingCall(noun, verb, options)) {
    return <a href={linkTo('approvals', '', { status: 'pending' })}>{action.label}: requested</a>
  }
  const form = settings.value?.forms[noun]?.[verb]
  const fields = catalogueFields(form, { preset: options, only, values, current })
  return (
    <Action<T>
      {...action}
      about={
        <>
          {about ?? `${sentence(form?.summary ?? '')}.`}
          {form?.approval && ` A stage with approvals asks a second operator ${form.approval}.`}
        </>
      }
      fields={fields.map((field) => ({ ...field, ...texts[field.name] }))}
      perform={(entered) => submit<T>(noun, verb, { ...options, ...entered })}
      command={(entered) => commandOf(noun, verb, { ...options, ...entered })}
    />
  )
}

type OptionName<N extends NounName, V extends VerbName<N>> = keyof OptionsOf<N, V> & string

type OperatorActionProps<N extends NounName, V extends VerbName<N>> = CatalogueActionProps<
  ConsoleResult<N, V>
> & {
  call: readonly [noun: N, verb: V, options?: Partial<OptionsOf<N, V>>]
  only?: readonly OptionName<N, V>[]
  values?: Partial<Record<OptionName<N, V>, string>>
  texts?: Partial<Record<OptionName<N, V>, Partial<Field>>>
}

/** A button that runs a verb of the catalogue. */
export const OperatorAction = <N extends NounName, V extends VerbName<N>>(
  props: OperatorActionProps<N, V>,
) => <CatalogueAction<ConsoleResult<N, V>> {...props} />

/** Returns the action of a list that creates a row. */
export const newAction = (noun: 'bank' | 'provider') => (reload: () => void) => (
  <OperatorAction
    label={`New ${noun}`}
    kind="primary"
    call={[noun, 'create']}
    done={`The ${noun} is created.`}
    onDone={reload}
  />
)
