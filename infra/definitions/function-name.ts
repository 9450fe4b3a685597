export const functionName = (name: string, stage: string) => `debit-collection-${stage}-${name}`
