import type { Bank } from '../../shared/domain/banks/bank.ts'
import type { Provider, ProviderId } from '../../shared/domain/providers/provider.ts'
import type { Webhook } from '../../shared/domain/webhooks/webhook.ts'
import { real } from '../../shared/runtime.ts'
import { changeBank } from '../../shared/store/banks/banks.ts'
import { changeProvider } from '../../shared/store/providers/providers.ts'
import { noWrites } from '../../shared/store/settings.ts'
import { changeWebhook } from '../../shared/store/webhooks/webhooks.ts'

export const storeProvider = (provider: Provider) =>
  changeProvider(provider.id, () => provider, noWrites, real)

export const storeBank = (bank: Bank) => changeBank(bank.identifier, () => bank, noWrites, real)

export const storeWebhook = (provider: ProviderId, webhook: Webhook) =>
  changeWebhook(provider, () => webhook, noWrites, real)
