const outcomes: string[] = [];
for (const amount of [50, 5, 5]) {
  try {
    outcomes.push((await tools.shop.refund({ order: "A-1", amount })).structuredContent);
  } catch (error) {
    outcomes.push(error.message);
  }
}
return outcomes;
