export const functionName = (name: string, stage: string): string =>
  `debit-collection-${stage}-${name}`
