type Refund = { order: string; amount: number };

const wanted: Refund = { order: "A-1", amount: 5 };
try {
  return (await tools.shop.refund(wanted)).structuredContent;
} catch (error) {
  if (!(error instanceof ToolCallError)) throw error;
  return `${error.code}: ${error.message}`;
}
