import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { ApprovalResult } from '../../../shared/views/operator/approval.ts'
import type { Field } from '../catalogue-fields.ts'
import { type CallOptions, isSandbox, mayUse, settings } from '../client.ts'
import { refresh } from '../live.ts'
import { addPending } from '../matters.ts'
import { useRun } from '../use-operator.ts'
import { Button, showFailure, showToast } from './button.tsx'
import { Input, onSubmit, valuesOf } from './field.tsx'
import { CopiedText, showSecrets } from './result.tsx'
import { Failure, Modal } from './screen.tsx'

/** The result of a call that ran at once, not the request of a call that waits for an approval. */
type Done<T> = Exclude<T, { approval: ApprovalResult }>

/** The members that a row of a call has as well. */
export type CommonProps<T> = {
  /** On a stage the dialog asks for a confirmation and names the stage. */
  movesMoney?: boolean
  /** A sandbox shows the dialog as well, as it does before a danger. */
  isAsked?: boolean
  kind?: 'primary' | 'danger'
  /** The message after success. */
  done?: string | ((result: Done<T>, options: CallOptions) => string)
  onDone?: ((result: Done<T>) => void) | undefined
}

export type ActionProps<T> = CommonProps<T> & {
  label: string
  /** The effect, in the dialog. */
  about?: ComponentChildren
  fields?: readonly Field[]
  /** The amount and the parties by the values of the form, in a dialog that a sandbox shows as well. */
  confirmation?: ((values: CallOptions) => ComponentChildren) | undefined
  perform: (values: CallOptions) => Promise<T>
  /** The same call in a shell. */
  command?: (values: CallOptions) => string
}

type DialogProps = Omit<ActionProps<never>, 'perform' | 'done' | 'onDone'> & {
  act: (values: CallOptions) => Promise<void>
  onClose: () => void
}

const Dialog = ({ label, act, onClose, ...props }: DialogProps) => {
  const { about, fields = [], movesMoney = false, confirmation, command } = props
  const { isRunning, error, run } = useRun(showFailure)
  const initial = Object.fromEntries(
    fields.flatMap(({ name, value }) => (value ? [[name, value]] : [])),
  )
  const [values, setValues] = useState<CallOptions>(initial)
  return (
    <Modal title={label} onClose={onClose}>
      {about && <p>{about}</p>}
      {confirmation?.(values)}
      {movesMoney && !isSandbox() && (
        <p class="notice warn">
          This call moves or redirects money, or proof of money, on the stage{' '}
          <strong>{settings.value?.stage}</strong>.
        </p>
      )}
      <form
        onSubmit={onSubmit((_, contents) => run(async () => act(await contents())))}
        onInput={(event) => setValues(valuesOf(event.currentTarget))}
      >
        {fields.map((field) => (
          <Input key={field.name} field={field} />
        ))}
        {command && (
          <CopiedText title="The same call in a shell" copy="command" text={command(values)} />
        )}
        {error && <Failure error={error} />}
        <div class="row">
          <Button onClick={onClose}>Cancel</Button>
          <button type="submit" class="primary" disabled={isRunning}>
            {isRunning ? 'Running…' : label}
          </button>
        </div>
      </form>
    </Modal>
  )
}

/** A button that acts at once, or after a dialog if it has fields or a stage is behind the console. */
export function Action<T>(props: ActionProps<T>) {
  const { perform, onDone, done = 'The call was made.', ...shown } = props
  const { label, fields = [], confirmation, isAsked, kind = '' } = shown
  const [isOpen, setOpen] = useState(false)
  const isDialog = isAsked || kind === 'danger' || confirmation || fields.length > 0 || !isSandbox()
  // A dialog returns the focus to its button, which must not be disabled.
  const start = isDialog ? { onClick: () => setOpen(true) } : { work: () => act({}) }
  const act = async (options: CallOptions): Promise<void> => {
    const result = await perform(options)
    setOpen(false)
    // The request of a call that a second operator must approve.
    const { approval } = (result ?? {}) as { approval?: ApprovalResult }
    if (approval?.id) {
      const isListed = mayUse('approval')
      // Without the right to read approvals, the page would never remove the request.
      if (isListed) addPending(approval)
      const hint = isListed ? ' See Approvals.' : ''
      return showToast(`Request ${approval.id} waits for a second operator.${hint}`)
    }
    showSecrets(result)
    showToast(typeof done === 'string' ? done : done(result as Done<T>, options))
    refresh()
    onDone?.(result as Done<T>)
  }
  return (
    <>
      <Button class={kind} {...start}>
        {label}
      </Button>
      {isOpen && <Dialog {...shown} act={act} onClose={() => setOpen(false)} />}
    </>
  )
}
