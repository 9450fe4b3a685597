import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { OperatorResults } from '../../../shared/views/operator/results.ts'
import { Button, showFailure, showToast } from './button.tsx'
import { Modal, TooLarge } from './screen.tsx'
import { Code, prettyJson } from './values.tsx'

const copy = async (text: string, done: string): Promise<void> => {
  await navigator.clipboard.writeText(text).catch(() => {
    throw new Error('The browser does not allow copying.')
  })
  showToast(done)
}

type CopyProps = { text: string; label: string; done?: string }

/** Copies a text to the clipboard. */
export const Copy = ({ text, label, done = 'Copied.' }: CopyProps) => (
  <Button class="small" onClick={() => copy(text, done).catch(showFailure)}>
    {label}
  </Button>
)

type CopiedTextProps = {
  title: string
  text: string
  copy?: string
  /** Names the box. */
  label?: string
  /** Replaces an empty text. */
  none?: string | undefined
  children?: ComponentChildren
}

/** A text in a box, below its title and the button that copies it. */
export const CopiedText = ({ title, text, children, ...names }: CopiedTextProps) => {
  const { copy = title.toLowerCase(), label = title, none = `The ${copy} has no body.` } = names
  return (
    <section>
      <div class="head">
        <h3>{title}</h3>
        {text && <Copy label={`Copy ${copy}`} text={text} />}
      </div>
      {children}
      {text ? <Code label={label} text={text} /> : <small>{none}</small>}
    </section>
  )
}

type Headers = readonly (readonly [name: string, value: string])[]

export const headersText = (headers: Headers): string =>
  headers.map(([name, value]) => `${name}: ${value}`).join('\n')

type ExchangeProps = {
  /** The command that sends the request again, and what to set before. */
  curl: string
  done: string
  messages: readonly { name: string; headers?: Headers; body: string; none?: string | undefined }[]
}

/** A request next to its reply, with the headers that are known. */
export const Exchange = ({ curl, done, messages }: ExchangeProps) => (
  <>
    <Copy label="Copy as curl" text={curl} done={`Copied. ${done}`} />
    <div class="columns">
      {messages.map(({ name, headers = [], body, none }) => {
        const of = ` of the ${name.toLowerCase()}`
        return (
          <CopiedText
            key={name}
            title={name}
            label={`Body${of}`}
            text={prettyJson(body)}
            none={none}
          >
            {headers.length > 0 && (
              <details open>
                <summary>Headers</summary>
                <Code label={`Headers${of}`} text={headersText(headers)} />
              </details>
            )}
          </CopiedText>
        )
      })}
    </div>
  </>
)

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

type ShownResult = { isOnce: boolean; parts: readonly ShownText[]; href?: string | undefined }

/** The result of the last call; one with secrets stays until the operator has copied them. */
const shown = signal<ShownResult | undefined>(undefined)

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
  const { download: href } = (result ?? {}) as { download?: string }
  const text = typeof result === 'string' ? result : JSON.stringify(result, null, 2)
  const parts: ShownText[] = href ? [] : [[`Result of ${call}`, text]]
  shown.value = shown.value ?? { isOnce: false, parts, href }
}

const close = (): void => {
  shown.value = undefined
}

/** A dialog with the result of a call, such as secrets that are shown once. */
export const Result = () => {
  if (!shown.value) return null
  const { isOnce, parts, href } = shown.value
  return (
    // Escape must not lose a secret.
    <Modal title={isOnce ? 'Shown once' : 'Result'} onClose={close} isKept={isOnce}>
      {href && <TooLarge name="result" href={href} />}
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
