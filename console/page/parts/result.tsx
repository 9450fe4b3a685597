import { signal } from '@preact/signals'
import { useEffect, useId, useRef } from 'preact/hooks'
import type { OperatorResults } from '../../../shared/views/operator/results.ts'
import { Copy } from './copy.tsx'
import { Code } from './values.tsx'

type KeysOf<T> = T extends object ? keyof T : never
type ResultKey = {
  [N in keyof OperatorResults]: KeysOf<OperatorResults[N][keyof OperatorResults[N]]>
}[keyof OperatorResults]
type SecretKey = Exclude<Extract<ResultKey, 'token' | `${string}secret`>, `has_${string}`>

/** The members of results that the service shows once. */
const titles: Record<SecretKey, string> = {
  token: 'Token',
  secret: 'Signing secret',
  request_secret: 'Request-signing secret',
  connector_secret: 'Secret of the connector',
}

type ShownText = readonly [title: string, text: string]

/** The result of the last call; one with secrets stays until the operator has copied them. */
const shown = signal<{ isOnce: boolean; parts: readonly ShownText[] } | undefined>(undefined)

/** Opens the dialog if a result has secrets. */
export const showSecrets = (result: unknown): void => {
  const members = (result ?? {}) as Record<string, unknown>
  const parts = Object.entries(titles).flatMap(([key, title]): ShownText[] => {
    const text = members[key]
    return typeof text === 'string' ? [[title, text]] : []
  })
  if (parts.length > 0) shown.value = { isOnce: true, parts }
}

/** Shows the result of any call, unless its secrets are shown. */
export const showResult = (call: string, result: unknown): void => {
  const text = typeof result === 'string' ? result : JSON.stringify(result, null, 2)
  shown.value = shown.value ?? { isOnce: false, parts: [[`Result of ${call}`, text]] }
}

const close = (): void => {
  shown.value = undefined
}

const Shown = ({ isOnce, parts }: { isOnce: boolean; parts: readonly ShownText[] }) => {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => element.current?.showModal(), [])
  return (
    <dialog
      ref={element}
      aria-labelledby={id}
      onClose={close}
      // Escape must not lose a secret.
      onCancel={(event) => isOnce && event.preventDefault()}
    >
      <div class="fields">
        <h2 id={id}>{isOnce ? 'Shown once' : 'Result'}</h2>
        {isOnce && <p>The service does not show these again. Copy them to their place now.</p>}
        {parts.map(([title, text]) => (
          <div key={title}>
            <h3>{title}</h3>
            <Code label={title} text={text} />
            <Copy label={isOnce ? `Copy ${title.toLowerCase()}` : 'Copy'} text={text} />
          </div>
        ))}
        <div class="row">
          <button type="button" class="primary" onClick={close}>
            Done
          </button>
        </div>
      </div>
    </dialog>
  )
}

/** A dialog with the result of a call, such as secrets that are shown once. */
export const Result = () => (shown.value ? <Shown {...shown.value} /> : null)
