import { checkBank, disconnect, recordsConnection, saveBank } from '../../shared/banks/save-bank.ts'
import type { Bank, BankIdentifier, ConnectorName } from '../../shared/domain/banks/bank.ts'
import { defined } from '../../shared/domain/defined.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { type Author, noSuch, operatorHandler } from '../../shared/operator/handler.ts'
import { connector as noun } from '../../shared/operator/nouns/connector.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { findBank, listBanks } from '../../shared/store/banks/banks.ts'
import { findConnectorSettings } from '../../shared/store/banks/connector-settings.ts'

const view = ({ identifier, connector }: Bank, url?: string) => ({
  bank: identifier,
  connector,
  connector_url: url ?? null,
})

const viewWithUrl = async (bank: Bank) =>
  bank.connector === 'http'
    ? view(bank, (await findConnectorSettings(bank.identifier))?.url)
    : view(bank)

const recording = (bank: BankIdentifier, author: Author) =>
  recordsConnection({ ...author, target: bank, bank }, ({ connector }) => ({ connector }))

const changeOf = (connector: ConnectorName | undefined) => (previous: Bank | undefined) =>
  previous ? { ...previous, connector: connector ?? previous.connector } : noSuch('bank')

export const manageConnector = (runtime: Runtime) =>
  operatorHandler(
    noun,
    {
      set: {
        run: async ({ bank: identifier, connector, ...settings }, author) => {
          const change = changeOf(connector)
          const recordChange = recording(identifier, author)
          const saved = await saveBank(
            { identifier, change, options: settings, recordChange },
            runtime,
          )
          if (saved instanceof Refusal) return saved
          const { bank, url, newSecret } = saved
          return { ...view(bank, url), ...defined({ connector_secret: newSecret }) }
        },
        check: ({ bank, connector, ...options }) =>
          checkBank({ identifier: bank, change: changeOf(connector), options }),
      },
      show: async ({ bank: identifier }) => {
        const bank = await findBank(identifier)
        return bank ? viewWithUrl(bank) : noSuch('bank')
      },
      list: async () => Promise.all((await listBanks()).map(viewWithUrl)),
      remove: async ({ bank: identifier }, author) => {
        const bank = await disconnect(identifier, recording(identifier, author), runtime)
        return bank ? view(bank) : noSuch('bank')
      },
    },
    runtime,
  )

export const handler = manageConnector(real)
