import type * as v from 'valibot'
import { checkBank, connectionRecorder, saveBank } from '../../shared/banks/save-bank.ts'
import type { Bank, BankIdentifier } from '../../shared/domain/banks/bank.ts'
import { type Complete, defined } from '../../shared/domain/complete.ts'
import { invalid, unlessRefused } from '../../shared/domain/refusal.ts'
import {
  type ApprovalCheck,
  type Author,
  noSuch,
  objectToChange,
  operatorHandler,
} from '../../shared/operator/handler.ts'
import { bank as noun } from '../../shared/operator/nouns/banks.ts'
import { updatedOr } from '../../shared/operator/options.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { findBank, listBanks } from '../../shared/store/banks/banks.ts'
import { healthIn, readBankHealths } from '../../shared/store/banks/health.ts'
import { bankSettingsView, operatorBankView as view } from '../../shared/views/operator/bank.ts'

type NewBankOptions = v.InferOutput<typeof noun.verbs.create.options>
type BankOptions = v.InferOutput<typeof noun.verbs.update.options>
type BehaveOptions = v.InferOutput<typeof noun.verbs.behave.options>

const applySettings = (bank: Bank, settings: Omit<BankOptions, 'bank'>): Bank =>
  defined<Complete<Bank>>({
    // With the members of a later release, which the type does not name.
    ...(bank as object),
    identifier: bank.identifier,
    countryCode: bank.countryCode,
    name: settings.name ?? bank.name,
    connector: settings.connector ?? bank.connector,
    status: settings.status ?? bank.status,
    connectorType: settings['connector-type'] ?? bank.connectorType,
    maximum: updatedOr(bank.maximum, settings.maximum),
    ussdCode: updatedOr(bank.ussdCode, settings['ussd-code']),
    packageName: updatedOr(bank.packageName, settings['package-name']),
    openPromptsMax: updatedOr(bank.openPromptsMax, settings['open-prompts-max']),
    accountLookup: settings['account-lookup'] ?? bank.accountLookup,
    requestLimits: bank.requestLimits,
    behaviour: bank.behaviour,
    payoutDays: updatedOr(bank.payoutDays, settings['payout-days']),
    statementColumns: updatedOr(bank.statementColumns, settings['statement-columns']),
    statementEncoding: updatedOr(bank.statementEncoding, settings['statement-encoding']),
    whenDown: updatedOr(bank.whenDown, settings['when-down']),
  })

/** @param created the bank before its settings, for `create` */
const update = ({ bank: identifier, ...settings }: BankOptions, created?: Bank) => ({
  identifier,
  change: (stored: Bank | undefined) =>
    unlessRefused(objectToChange('bank', stored, created), (bank) => applySettings(bank, settings)),
  options: settings,
})

const create = (options: NewBankOptions) =>
  update(options, {
    identifier: options.bank,
    name: options.name,
    countryCode: 'GH',
    status: 'live',
    connector: 'none',
    connectorType: 'ussd',
  })

const behaveAs = (
  { as, code, for: milliseconds }: Omit<BehaveOptions, 'bank'>,
  bank: Bank,
  at: Date,
) => {
  const { behaviour: _, ...usual } = bank
  if (bank.connector !== 'sandbox') return invalid({ bank: ['must have connector sandbox'] })
  if (as === 'normal')
    return milliseconds === undefined ? usual : invalid({ for: ['does not apply to normal'] })
  return {
    ...usual,
    behaviour: {
      as,
      code: as === 'rejecting' ? (code ?? 'transaction_declined') : null,
      until:
        milliseconds === undefined ? null : new Date(at.getTime() + milliseconds).toISOString(),
    },
  }
}

const behave = ({ bank: identifier, ...behaviour }: BehaveOptions, at: Date) => ({
  identifier,
  change: (stored: Bank | undefined) => (stored ? behaveAs(behaviour, stored, at) : noSuch('bank')),
  options: {},
})

const healthOf = async (bank: BankIdentifier, at: Date) => healthIn(await readBankHealths(at), bank)

/** The tokens of a suspended bank, which may have leaked, report outcomes again once it is not suspended. */
const endsSuspension = async ({ bank, status = 'suspended' }: BankOptions) =>
  status !== 'suspended' && (await findBank(bank))?.status === 'suspended'

/** Refuses new charges. It must not lift a suspension, which is stricter. */
const disabling = (identifier: BankIdentifier) => ({
  identifier,
  change: (stored: Bank | undefined) => {
    if (!stored) return noSuch('bank')
    return applySettings(stored, {
      status: stored.status === 'suspended' ? 'suspended' : 'inactive',
    })
  },
  options: {},
})

const save = async (
  change: ReturnType<typeof update | typeof behave>,
  author: Author,
  runtime: Runtime,
  checkApproval?: ApprovalCheck,
) => {
  const health = await healthOf(change.identifier, author.at)
  const recording = { ...author, target: change.identifier, bank: change.identifier }
  const recordChange = connectionRecorder(recording, (bank) => fields(bank, author.at))
  return unlessRefused(
    await saveBank(
      {
        ...change,
        change: async (stored) => (await checkApproval?.()) ?? change.change(stored),
        recordChange,
      },
      runtime,
    ),
    ({ bank, url, newSecret }) => ({
      ...view(bank, author.at, health),
      ...defined({ connector_url: url, connector_secret: newSecret }),
    }),
  )
}

const fields = (bank: Bank, at: Date) => ({
  ...bankSettingsView(bank, at),
  ussd_code: bank.ussdCode,
  package_name: bank.packageName,
})

export const manageBank = operatorHandler(noun, {
  create: {
    run: (options, author, runtime) => save(create(options), author, runtime),
    check: (options) => checkBank(create(options)),
  },
  update: {
    run: (options, author, runtime, checkApproval) =>
      save(update(options), author, runtime, checkApproval),
    check: (options) => checkBank(update(options)),
    needsApproval: endsSuspension,
  },
  show: async ({ bank: identifier }, { at }) =>
    unlessRefused((await findBank(identifier)) ?? noSuch('bank'), async (bank) =>
      view(bank, at, await healthOf(identifier, at)),
    ),
  list: async (_, { at }) => {
    const [banks, healths] = await Promise.all([listBanks(), readBankHealths(at)])
    return banks.map((bank) => view(bank, at, healthIn(healths, bank.identifier)))
  },
  disable: ({ bank }, author, runtime) => save(disabling(bank), author, runtime),
  enable: {
    run: ({ bank }, author, runtime, checkApproval) =>
      save(update({ bank, status: 'live' }), author, runtime, checkApproval),
    check: ({ bank }) => checkBank(update({ bank, status: 'live' })),
    needsApproval: ({ bank }) => endsSuspension({ bank, status: 'live' }),
  },
  behave: (options, author, runtime) => save(behave(options, author.at), author, runtime),
})

export const handler = manageBank(real)
