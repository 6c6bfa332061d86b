return await tools.shop.get_customer({ ID: "c1" });
