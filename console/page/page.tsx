import { render } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import {
  actingAs,
  isClockFrozen,
  isSandbox,
  loadSettings,
  mayUse,
  operate,
  settings,
} from './client.ts'
import { connect, isConnected } from './live.ts'
import { openAt, useMatters } from './matters.ts'
import { Button, showFailure, Toasts } from './parts/button.tsx'
import { onSubmit } from './parts/field.tsx'
import { Result } from './parts/result.tsx'
import { Failure, Loading, Screen } from './parts/screen.tsx'
import { ServiceTime } from './parts/values.tsx'
import { linkTo, titleOf } from './place.ts'
import { place, scrollTop } from './route.ts'
import { DeliveryDrawer } from './screens/webhooks.tsx'
import { type ScreenRow, screenGroups, screens } from './screens.ts'
import { partnerLink, searchLink } from './search.ts'

let searches = 0

const find = async (text: string): Promise<void> => {
  searches += 1
  const own = searches
  const byPartner = { 'partner-reference': text, limit: '1' }
  const [providers, banks, debits] = await Promise.all([
    mayUse('provider') ? operate('provider', 'list', {}) : [],
    mayUse('bank') ? operate('bank', 'list', {}) : [],
    // A provider's reference can look like anything; the service refuses a text that cannot be one.
    mayUse('debit') ? operate('debit', 'list', byPartner).catch(() => []) : [],
  ])
  const link = debits.length > 0 ? partnerLink(text) : searchLink(text, { providers, banks })
  // A slow search must not replace a later one.
  if (own === searches) location.assign(link)
}

/** Finds an object by any of its names. `/` and Ctrl-K lead here. */
const Search = () => {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, target } = event
      const isTyping = target instanceof Element && target.matches('input, select, dialog *')
      if (!(key === 'k' && (ctrlKey || metaKey)) && (key !== '/' || isTyping)) return
      event.preventDefault()
      input.current?.select()
    }
    addEventListener('keydown', focus)
    return () => removeEventListener('keydown', focus)
  }, [])
  return (
    <search>
      <form onSubmit={onSubmit(({ text }) => text && find(text).catch(showFailure))}>
        <input
          ref={input}
          name="text"
          type="search"
          aria-label="Search"
          aria-keyshortcuts="/ Control+K"
          placeholder="Search /"
          title="Reference, uuid, provider’s or bank’s reference, phone, amount, batch, provider or bank"
        />
      </form>
    </search>
  )
}

const isOffered = ({ noun, isForSandbox }: ScreenRow): boolean =>
  (!noun || mayUse(noun)) && (!isForSandbox || isSandbox())

const Links = ({ current }: { current: ScreenRow | undefined }) =>
  Object.entries(screenGroups).map(([group, rows]) => {
    const offered = rows.filter((row) => !row.under && isOffered(row))
    if (offered.length === 0) return null
    const shown = current?.under ?? current?.path
    return (
      <section key={group}>
        <h2>{group}</h2>
        {offered.map(({ path, filters }) => (
          <a
            key={path}
            href={linkTo(path, '', filters)}
            aria-current={shown === path ? 'page' : undefined}
          >
            {titleOf(path)} {openAt(path) && <span class="badge">{openAt(path)}</span>}
          </a>
        ))}
      </section>
    )
  })

const OPERATOR_RULE = 'it must have at most 40 letters, digits, dots, underscores or hyphens.'

/** In a sandbox one person can act as two operators, to approve calls. */
const Operator = () =>
  isSandbox() ? (
    <label>
      Act as operator
      <input
        value={actingAs.value}
        placeholder={settings.value?.operator.replace('local:', '')}
        pattern="[A-Za-z0-9._\-]{1,40}"
        onChange={({ currentTarget }) => {
          const { value, validity } = currentTarget
          if (!validity.valid) {
            currentTarget.value = actingAs.value
            return showFailure(new Error(`“${value}” is not a valid name: ${OPERATOR_RULE}`))
          }
          actingAs.value = value
          sessionStorage.setItem('operator', value)
        }}
      />
    </label>
  ) : (
    <p>
      <span class="muted">Operator</span> {settings.value?.operator}
    </p>
  )

const Side = ({ current }: { current: ScreenRow | undefined }) => {
  const [isOpen, setOpen] = useState(false)
  // A new place closes the menu.
  useEffect(() => setOpen(false), [place.value])
  const { stage, is_live } = settings.value ?? {}
  const connection = isConnected.value ? 'Live' : 'Not connected. Retrying…'
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the menu
    <header
      class={`side ${isOpen ? 'open' : ''} ${stage === 'production' ? stage : ''}`}
      onKeyDown={({ key }) => key === 'Escape' && setOpen(false)}
    >
      <div class="brand">
        Debit collection
        <span class={`stage ${stage ? 'real' : ''}`}>{stage ? `stage ${stage}` : 'sandbox'}</span>
        <Button
          class="menu"
          aria-expanded={isOpen}
          aria-controls="links"
          onClick={() => setOpen(!isOpen)}
        >
          Menu
        </Button>
      </div>
      <Search />
      <nav id="links" aria-label="Screens">
        <Links current={current} />
        <div class="session stack">
          <Operator />
          <p class="muted">
            <ServiceTime />
            {isClockFrozen() && ', frozen'}
          </p>
          <p class="muted" role="status">
            {is_live ? connection : 'Updated every 5 seconds'}
          </p>
        </div>
      </nav>
    </header>
  )
}

const UNKNOWN = ['This screen does not exist', 'Choose a screen from the links.'] as const

const CurrentScreen = ({ of: current }: { of: ScreenRow | undefined }) => {
  if (current && isOffered(current)) return <current.View />
  const reason = `Your AWS credentials do not allow invoking manage-${current?.noun}.`
  const [title, about] = current ? ['You may not use this screen', reason] : UNKNOWN
  return <Screen title={title} about={about} />
}

const Console = () => {
  useMatters()
  const { screen, id } = place.value
  const current = screens.find(({ path }) => path === screen)
  // A new screen begins at its heading, also for screen readers, before the operator can press a key.
  useLayoutEffect(() => {
    const stage = settings.value?.stage ?? 'sandbox'
    document.title = `${id || (current ? titleOf(screen) : 'Not found')} · ${stage} · Debit collection`
    scrollTo(0, scrollTop())
    document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true })
  }, [id, current])
  return (
    <>
      <div class="shell">
        <Button class="skip" onClick={() => document.getElementById('main')?.focus()}>
          Skip to the content
        </Button>
        <Side current={current} />
        <main id="main" tabIndex={-1}>
          <CurrentScreen key={`${screen}/${id}`} of={current} />
        </main>
      </div>
      <DeliveryDrawer />
      <Result />
      <Toasts />
    </>
  )
}

const root = document.createElement('div')
document.body.append(root)

const start = async (): Promise<void> => {
  render(<Loading />, root)
  try {
    await loadSettings()
    if (settings.value?.is_live) connect()
    render(<Console />, root)
  } catch (error) {
    render(<Failure error={error as Error} retry={() => void start()} />, root)
  }
}

await start()
