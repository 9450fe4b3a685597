import type { Bank } from '../../domain/banks/bank.ts'

export type ConnectorResult = ReturnType<typeof connectorView>

export const connectorView = ({ identifier, connector }: Bank, url?: string) => ({
  bank: identifier,
  connector,
  connector_url: url ?? null,
})
