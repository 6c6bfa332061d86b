const { structuredContent: orders } = await tools.shop.list_orders({ status: "open" });
const late = orders.filter((order) => order.days_late > 3);
const customers = await Promise.all(late.map((order) => tools.shop.get_customer({ id: order.customer })));
return late.map((order, i) => `${order.id}: ${customers[i].structuredContent.name}, ${order.days_late} days late`);
