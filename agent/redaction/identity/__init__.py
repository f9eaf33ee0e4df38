"""Who a record is about: what is known of its people, searched in all of its texts."""
