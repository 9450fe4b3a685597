import type { BankResult } from '../../../shared/views/operator/bank.ts'
import type { CredentialResult } from '../../../shared/views/operator/credential.ts'
import { mayUse, operate, serviceNow, submit } from '../client.ts'
import { Call, CatalogueCall } from '../parts/call.tsx'
import { ListPanel, listScreen } from '../parts/list.tsx'
import { accountText } from '../parts/money-terms.tsx'
import { Data, Facts, Panel, Screen } from '../parts/screen.tsx'
import { named } from '../parts/table.tsx'
import { Countdown, Link, Mark, Noted, Status, Time, Verdict, words } from '../parts/values.tsx'
import { linkTo } from '../place.ts'
import { place } from '../route.ts'
import { settingTexts } from '../settings-of.ts'
import { useLoaded, useOperator } from '../use-operator.ts'

export const ProvidersScreen = listScreen({
  about: () => 'The payment providers with their settings, credentials and limits.',
  noun: 'provider',
  entities: ['provider'],
  actions: () => <Call of={['provider', 'create']} />,
  columns: {
    Provider: ({ id, name }) => <Noted of={<Link to="provider" id={id} />}>{name}</Noted>,
    Status: 'status',
    'Payouts to': { wide: (provider) => accountText(provider) ?? 'none' },
    ...named('payouts_held_until as Held until'),
    'Daily limit': { number: ({ daily_limit }) => daily_limit ?? 'none' },
  },
  empty: ['No providers yet', '“New provider” creates one.'],
})

const behaviourOf = ({ connector, behaviour }: BankResult) => {
  if (connector !== 'sandbox') return null
  if (!behaviour) return <Status value="normal" />
  const { as, code, until } = behaviour
  return (
    <Noted of={<Mark tone="bad">{as}</Mark>}>
      {code && words(code)}
      {until && <Countdown at={until} label="ends" />}
    </Noted>
  )
}

export const BanksScreen = listScreen({
  about: () =>
    'A bank with the connector “sandbox” fails on demand. Functions of a stage know a change within 30 seconds.',
  noun: 'bank',
  entities: ['bank', 'bank-health'],
  actions: () => <Call of={['bank', 'create']} />,
  columns: {
    Bank: ({ identifier, name }) => <Noted of={<Link to="bank" id={identifier} />}>{name}</Noted>,
    Status: 'status',
    Health: ({ health: { state, since } }) => (
      <Noted of={<Verdict isGood={state === 'up'}>{state}</Verdict>}>
        {since && <Time at={since} label="since" />}
      </Noted>
    ),
    ...named('connector', 'maximum'),
    Behaviour: behaviourOf,
    '': ({ identifier, connector }) =>
      connector === 'sandbox' && <Call of={['bank', 'behave', { bank: identifier }]} />,
  },
  empty: ['No banks yet', '“New bank” creates one.'],
})

/** A provider or a bank: both have settings, credentials and limits. */
type OwnerOption = { provider?: string; bank?: string }

const statusOf = ({ revoked_at, expires_on }: CredentialResult) => {
  if (revoked_at) return <Time at={revoked_at} label="revoked" />
  const isExpired = expires_on !== null && Date.parse(expires_on) <= serviceNow()
  return <Status value={isExpired ? 'expired' : 'active'} />
}

const Settings = (view: object) => <Facts of={Object.fromEntries(settingTexts(view))} />

const Credentials = ({ owner }: { owner: OwnerOption }) => (
  <ListPanel
    actions={() => <Call of={['credential', 'issue', owner]} />}
    label="Credentials"
    noun="credential"
    options={{ provider: undefined, bank: undefined, ...owner }}
    entities={['credential']}
    columns={{
      Token: ({ last_characters }) => <span class="mono">…{last_characters}</span>,
      Issued: 'created_at',
      Expires: ({ expires_on }) => (expires_on ? <Time at={expires_on} /> : 'never'),
      Status: statusOf,
      '': ({ id, last_characters, revoked_at }) =>
        !revoked_at && (
          <Call
            of={['credential', 'revoke', { id }]}
            confirmation={() => <p>Requests with the token …{last_characters} are refused.</p>}
          />
        ),
    }}
    empty={['No credentials', 'Requests need a token.']}
  />
)

const Limits = ({ owner }: { owner: OwnerOption }) => {
  const limits = useOperator('limit', 'show', owner, { entities: ['provider', 'bank'] })
  const own = owner.provider ? (['daily-limit'] as const) : []
  const only = [...own, 'operation', 'per-minute'] as const
  const set = <Call of={['limit', 'set', owner]} only={only} current={limits.data} />
  return (
    <Panel title="Limits" actions={set}>
      <Data of={limits}>{Settings}</Data>
    </Panel>
  )
}

/** Reads the settings of a bank with those of its connector. */
export const readBank = async (bank: string): Promise<object> => {
  const shown = await operate('bank', 'show', { bank })
  if (!mayUse('connector')) return shown
  const { bank: _, ...connection } = await operate('connector', 'show', { bank })
  return { ...shown, ...connection }
}

/** The verb that ends a status. */
const switches: Record<string, string> = {
  ...{ active: 'disable', live: 'disable', inactive: 'enable', suspended: 'enable' },
}

const ownerScreen = (kind: 'provider' | 'bank', verbs: readonly string[]) => () => {
  const { id } = place.value
  const isBank = kind === 'bank'
  const owner = isBank ? { bank: id } : { provider: id }
  const load = () => (isBank ? readBank(id) : submit<object>('provider', 'show', owner))
  const shown = useLoaded<{ status?: string }>([kind, id], load, {
    entities: [kind, 'bank-health'],
  })
  const offered = [...verbs, switches[shown.data?.status ?? ''] ?? []].flat()
  return (
    <Screen
      back={[`${kind}s`, `${kind}s`]}
      about={[
        mayUse('debit') && <a href={linkTo('debits', '', owner)}>Debits</a>,
        mayUse('change') && <a href={linkTo('changes', '', owner)}>Changes</a>,
      ]}
      actions={offered.map((verb) => (
        <CatalogueCall
          key={verb}
          {...(verb === 'update' && { label: 'Change' })}
          of={[kind, verb, owner]}
          current={shown.data}
          isAsked
        />
      ))}
    >
      <Data of={shown}>
        {(view) => (
          <div class="columns">
            <Panel title="Settings">{Settings(view)}</Panel>
            {mayUse('limit') && <Limits owner={owner} />}
          </div>
        )}
      </Data>
      {mayUse('credential') && <Credentials owner={owner} />}
    </Screen>
  )
}

export const ProviderScreen = ownerScreen('provider', ['update', 'rotate-request-secret'])
export const BankScreen = ownerScreen('bank', ['update'])
