import { checkBank, disconnect, recordsConnection, saveBank } from '../../shared/banks/save-bank.ts'
import type { Bank, BankIdentifier, ConnectorName } from '../../shared/domain/banks/bank.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { type Author, operatorHandler } from '../../shared/operator/handler.ts'
import { connector as noun } from '../../shared/operator/nouns/connector.ts'
import { real } from '../../shared/runtime.ts'
import { findBank, listBanks } from '../../shared/store/banks/banks.ts'
import { findConnectorSettings } from '../../shared/store/banks/connector-settings.ts'

const view = ({ identifier, connector }: Bank, url?: string) => ({
  bank: identifier,
  connector,
  connector_url: url ?? null,
})

const shown = async (bank: Bank) => {
  if (bank.connector !== 'http') return view(bank)
  return view(bank, (await findConnectorSettings(bank.identifier))?.url)
}

const recording = (bank: BankIdentifier, author: Author) =>
  recordsConnection({ ...author, target: bank, bank }, ({ connector }) => ({ connector }))

const unknown = () => new Refusal(1404, { details: 'no such bank' })

const changing = (connector: ConnectorName | undefined) => (before: Bank | undefined) =>
  before ? { ...before, connector: connector ?? before.connector } : unknown()

export const handler = operatorHandler(
  noun,
  {
    set: async ({ bank, connector, ...options }, author) => {
      const saved = await saveBank(
        {
          identifier: bank,
          change: changing(connector),
          options,
          recordChange: recording(bank, author),
        },
        real,
      )
      if (saved instanceof Refusal) return saved
      return {
        ...view(saved.bank, saved.url),
        ...(saved.newSecret ? { connector_secret: saved.newSecret } : {}),
      }
    },
    show: async ({ bank }) => {
      const known = await findBank(bank)
      return known ? shown(known) : unknown()
    },
    list: async () => Promise.all((await listBanks()).map(shown)),
    remove: async ({ bank }, author) => {
      const left = await disconnect(bank, recording(bank, author))
      return left ? view(left) : unknown()
    },
  },
  real,
  {
    set: ({ bank, connector, ...options }) =>
      checkBank({ identifier: bank, change: changing(connector), options }),
  },
)
