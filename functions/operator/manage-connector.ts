import type * as v from 'valibot'
import { checkBank, connectionRecorder, saveBank } from '../../shared/banks/save-bank.ts'
import type { Bank, BankIdentifier } from '../../shared/domain/banks/bank.ts'
import { defined } from '../../shared/domain/complete.ts'
import { unlessRefused } from '../../shared/domain/refusal.ts'
import { type Author, noSuch, operatorHandler } from '../../shared/operator/handler.ts'
import { connector as noun } from '../../shared/operator/nouns/banks.ts'
import { real } from '../../shared/runtime.ts'
import { findBank, listBanks } from '../../shared/store/banks/banks.ts'
import { findConnectorSettings } from '../../shared/store/banks/connector-settings.ts'
import { connectorView as view } from '../../shared/views/operator/connector.ts'

type ConnectorSetOptions = v.InferOutput<typeof noun.verbs.set.options>

const viewWithUrl = async (bank: Bank) =>
  bank.connector === 'http'
    ? view(bank, (await findConnectorSettings(bank.identifier))?.url)
    : view(bank)

const recorder = (bank: BankIdentifier, author: Author) =>
  connectionRecorder({ ...author, target: bank, bank }, ({ connector }) => ({ connector }))

const update = ({ bank: identifier, connector, ...options }: ConnectorSetOptions) => ({
  identifier,
  change: (bank: Bank | undefined) =>
    bank ? { ...bank, connector: connector ?? bank.connector } : noSuch('bank'),
  options,
})

const removal = ({ bank }: { bank: BankIdentifier }) => ({
  ...update({ bank, connector: 'none' }),
  removesSettings: true,
})

export const manageConnector = operatorHandler(noun, {
  set: {
    run: async (options, author, runtime) => {
      const recordChange = recorder(options.bank, author)
      const saved = await saveBank({ ...update(options), recordChange }, runtime)
      return unlessRefused(saved, ({ bank, url, newSecret }) => ({
        ...view(bank, url),
        ...defined({ connector_secret: newSecret }),
      }))
    },
    check: (options) => checkBank(update(options)),
  },
  show: async ({ bank }) => unlessRefused((await findBank(bank)) ?? noSuch('bank'), viewWithUrl),
  list: async () => Promise.all((await listBanks()).map(viewWithUrl)),
  remove: {
    run: async (options, author, runtime) => {
      const recordChange = recorder(options.bank, author)
      const saved = await saveBank({ ...removal(options), recordChange }, runtime)
      return unlessRefused(saved, ({ bank }) => view(bank))
    },
    check: (options) => checkBank(removal(options)),
  },
})

export const handler = manageConnector(real)
