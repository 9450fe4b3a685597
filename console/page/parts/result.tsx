import { signal } from '@preact/signals'
import type { OperatorResults } from '../../../shared/views/operator/results.ts'
import { Button } from './button.tsx'
import { CopiedText } from './copy.tsx'
import { Modal } from './screen.tsx'

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
  const parts = Object.entries(result ?? {}).flatMap(([key, text]): ShownText[] => {
    const title = titles[key as SecretKey]
    return title && typeof text === 'string' ? [[title, text]] : []
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

/** A dialog with the result of a call, such as secrets that are shown once. */
export const Result = () => {
  if (!shown.value) return null
  const { isOnce, parts } = shown.value
  return (
    // Escape must not lose a secret.
    <Modal title={isOnce ? 'Shown once' : 'Result'} onClose={close} isKept={isOnce}>
      {isOnce && <p>The service does not show these again. Copy them to their place now.</p>}
      {parts.map(([title, text]) => (
        <CopiedText key={title} title={title} text={text} />
      ))}
      <div class="row">
        <Button class="primary" onClick={close}>
          Done
        </Button>
      </div>
    </Modal>
  )
}
