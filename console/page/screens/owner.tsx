import type { CredentialResult } from '../../../shared/views/operator/credential.ts'
import { sentence } from '../catalogue-fields.ts'
import { mayUse, operate } from '../client.ts'
import { CatalogueAction, OperatorAction } from '../parts/action.tsx'
import { Data, Empty, Facts, Panel, Screen } from '../parts/screen.tsx'
import { type Column, List } from '../parts/table.tsx'
import { Status, Time } from '../parts/values.tsx'
import { linkTo } from '../place.ts'
import { linkBackTo, place } from '../route.ts'
import { settingTexts } from '../settings-of.ts'
import { useLoaded, useOperator } from '../use-operator.ts'

/** A provider or a bank: both have settings, credentials and limits. */

type OwnerOption = { provider: string } | { bank: string }

const credentialColumns = (onDone: () => void): Column<CredentialResult>[] => [
  { title: 'Token', cell: ({ last_characters }) => <span class="mono">…{last_characters}</span> },
  { title: 'Issued', cell: ({ created_at }) => <Time at={created_at} /> },
  { title: 'Expires', cell: ({ expires_on }) => (expires_on ? <Time at={expires_on} /> : 'never') },
  {
    title: 'Status',
    cell: ({ revoked_at }) =>
      revoked_at ? (
        <>
          revoked <Time at={revoked_at} />
        </>
      ) : (
        <Status value="active" />
      ),
  },
  {
    title: '',
    cell: ({ id, last_characters, revoked_at }) =>
      !revoked_at && (
        <OperatorAction
          label="Revoke"
          isSmall
          kind="danger"
          call={['credential', 'revoke', { id }]}
          only={[]}
          confirmation={() => <p>Requests with the token …{last_characters} are refused.</p>}
          done="The credential is revoked."
          onDone={onDone}
        />
      ),
  },
]

const Credentials = ({ owner }: { owner: OwnerOption }) => {
  const watch = { entities: ['credential'] }
  const credentials = useOperator('credential', 'list', owner, watch)
  return (
    <Panel
      title="Credentials"
      actions={
        <OperatorAction
          label="Issue a credential"
          call={['credential', 'issue', owner]}
          only={['expires-on']}
          done="The credential is issued."
          onDone={credentials.reload}
        />
      }
    >
      <List
        label="Credentials"
        of={credentials}
        columns={credentialColumns(credentials.reload)}
        keyOf={({ id }) => id}
      >
        <Empty title="No credentials">Requests need a token.</Empty>
      </List>
    </Panel>
  )
}

const Limits = ({ owner }: { owner: OwnerOption }) => {
  const limits = useOperator('limit', 'show', owner, { entities: ['provider', 'bank'] })
  return (
    <Panel
      title="Limits"
      actions={
        <OperatorAction
          label="Set a limit"
          call={['limit', 'set', owner]}
          only={['provider' in owner ? 'daily-limit' : 'operation', 'operation', 'per-minute']}
          current={limits.data}
          done="The limit is set."
          onDone={limits.reload}
        />
      }
    >
      <Data of={limits}>{(shown) => <Facts rows={settingTexts(shown)} />}</Data>
    </Panel>
  )
}

/** The screen of each kind: its list, what it shows, and its calls. */
const kinds = {
  provider: {
    list: ['providers', 'All providers'],
    load: (provider: string): Promise<object> => operate('provider', 'show', { provider }),
    verbs: ['update', 'rotate-request-secret', 'disable', 'enable'],
  },
  bank: {
    list: ['banks', 'All banks'],
    load: async (bank: string): Promise<object> => {
      const shown = await operate('bank', 'show', { bank })
      if (!mayUse('connector')) return shown
      const { bank: _, ...connection } = await operate('connector', 'show', { bank })
      return { ...shown, ...connection }
    },
    verbs: ['update', 'disable', 'enable'],
  },
} as const

const OwnerScreen = ({ kind }: { kind: keyof typeof kinds }) => {
  const { id } = place.value
  const { list, load, verbs } = kinds[kind]
  const owner = kind === 'provider' ? { provider: id } : { bank: id }
  const shown = useLoaded(() => load(id), [id], { entities: [kind, 'bank-health'] })
  return (
    <Screen
      title={id}
      about={
        <>
          <a href={linkBackTo(list[0])}>{list[1]}</a> ·{' '}
          <a href={linkTo('debits', '', owner)}>Debits</a> ·{' '}
          <a href={linkTo('changes', '', owner)}>Changes</a>
        </>
      }
      actions={verbs.map((verb) => (
        <CatalogueAction
          key={verb}
          label={verb === 'update' ? 'Change' : sentence(verb.replaceAll('-', ' '))}
          call={[kind, verb, owner]}
          current={shown.data}
          confirmation={() => null}
          done="The call was made."
          onDone={shown.reload}
        />
      ))}
    >
      <Data of={shown}>
        {(view) => (
          <div class="columns">
            <Panel title="Settings">
              <Facts rows={settingTexts(view)} />
            </Panel>
            {mayUse('limit') && <Limits owner={owner} />}
          </div>
        )}
      </Data>
      {mayUse('credential') && <Credentials owner={owner} />}
    </Screen>
  )
}

export const ProviderScreen = () => <OwnerScreen kind="provider" />
export const BankScreen = () => <OwnerScreen kind="bank" />
